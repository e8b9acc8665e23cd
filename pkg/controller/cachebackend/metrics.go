/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"github.com/prometheus/client_golang/prometheus"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// instanceChanged is the only reason for which engines are restarted.
const instanceChanged = "server_instance_changed"

// controllerMetrics are the counters of the controller. Their labels are names of
// objects that the cluster has admitted, and go with the objects.
type controllerMetrics struct {
	cascades *prometheus.CounterVec
}

// newMetrics registers the metrics.
func newMetrics(registerer prometheus.Registerer) (*controllerMetrics, error) {
	m := &controllerMetrics{cascades: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "inferencecache_backend_server_restart_cascades_total",
		Help: "Restarts of all engines of a backend because its store was replaced.",
	}, []string{"namespace", "backend", "reason"})}
	return m, registerer.Register(m.cascades)
}

// cascaded counts that all engines of a backend were restarted.
func (m *controllerMetrics) cascaded(backend *v1alpha1.CacheBackend) {
	m.cascades.WithLabelValues(backend.Namespace, backend.Name, instanceChanged).Inc()
}

func (m *controllerMetrics) forget(namespace, name string) {
	m.cascades.DeleteLabelValues(namespace, name, instanceChanged)
}
