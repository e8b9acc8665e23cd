// Module prometheusoperator pins the release of the Prometheus operator whose
// definitions artifacts/monitoring is checked against. Nothing of it is compiled: its
// module carries them.
module inferencecache.io/inference-cache/hack/tools/prometheusoperator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
