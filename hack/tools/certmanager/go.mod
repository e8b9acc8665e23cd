// Module certmanager pins the release of cert-manager whose definitions the
// overlay is checked against. Nothing of it is compiled: its module carries them.
module inferencecache.io/inference-cache/hack/tools/certmanager

go 1.26.0

require github.com/cert-manager/cert-manager v1.21.2
