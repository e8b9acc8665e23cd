/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// instanceChanged is the only reason for which engines are restarted.
const instanceChanged = "server_instance_changed"

// controllerMetrics are the metrics of the controller. Their labels are names of
// objects that the cluster has admitted, and go with the objects. Only the replica
// that works has series of backends. It is safe for concurrent use.
type controllerMetrics struct {
	cascades *prometheus.CounterVec
	probes   *prometheus.CounterVec
	// hitRate and t2HitRate are over the lives of the engines.
	hitRate, t2HitRate *prometheus.GaugeVec
	// t2Queries and t2Hits are for what happens in a window of time.
	t2Queries, t2Hits *prometheus.CounterVec

	mu sync.Mutex
	// counted is how much of the index's counts is in ours, by backend.
	counted map[types.NamespacedName]tokens
}

// tokens are counts of the second tier, in tokens.
type tokens struct{ queries, hits int64 }

// newMetrics registers the metrics.
func newMetrics(registerer prometheus.Registerer) (*controllerMetrics, error) {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "inferencecache_backend_" + name, Help: help},
			append([]string{"namespace", "backend"}, labels...))
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "inferencecache_backend_" + name, Help: help}, []string{"namespace", "backend"})
	}
	m := &controllerMetrics{
		cascades:  counter("server_restart_cascades_total", "Restarts of all engines of a backend because its store was replaced.", "reason"),
		probes:    counter("probe_result_total", "Stages of functional probes by result: ok, failed, skipped, unknown.", "stage", "result"),
		hitRate:   gauge("hit_rate", "Share of the tokens that engines looked up in their own cache and found there, since they started."),
		t2HitRate: gauge("t2_hit_rate", "Share of the tokens that engines looked up in the second tier and got from there, since they started."),
		t2Queries: counter("t2_query_tokens_total", "Tokens that engines looked up in the second tier."),
		t2Hits:    counter("t2_hit_tokens_total", "Tokens that engines got from the second tier."),
		counted:   map[types.NamespacedName]tokens{},
	}
	var failures []error
	for _, c := range []prometheus.Collector{m.cascades, m.probes, m.hitRate, m.t2HitRate, m.t2Queries, m.t2Hits} {
		failures = append(failures, registerer.Register(c))
	}
	return m, errors.Join(failures...)
}

// cascaded counts that all engines of a backend were restarted.
func (m *controllerMetrics) cascaded(backend *v1alpha1.CacheBackend) {
	m.cascades.WithLabelValues(backend.Namespace, backend.Name, instanceChanged).Inc()
}

// probed counts the stages of a probe, of which there may be none. All results of a
// backend that is probed exist from its first probe on, so that no first failure is
// missed.
func (m *controllerMetrics) probed(backend *v1alpha1.CacheBackend, probe readiness.Probe) {
	if !probe.Enabled {
		return
	}
	for _, stage := range []readiness.StageName{readiness.StageIngest, readiness.StageRouting, readiness.StageT2} {
		for _, result := range []readiness.StageResult{readiness.StageOK, readiness.StageFailed, readiness.StageSkipped, readiness.StageUnknown} {
			m.probes.WithLabelValues(backend.Namespace, backend.Name, string(stage), string(result))
		}
	}
	for _, stage := range probe.Stages {
		m.probes.WithLabelValues(backend.Namespace, backend.Name, string(stage.Name), string(stage.Result)).Inc()
	}
}

// participates publishes what the index says of a backend. The rates are those of its
// status; without one there is no series.
func (m *controllerMetrics) participates(backend *v1alpha1.CacheBackend, part *v1alpha1.IndexParticipation, index *readiness.Index) {
	if part == nil {
		part = &v1alpha1.IndexParticipation{}
	}
	labels := []string{backend.Namespace, backend.Name}
	for gauge, rate := range map[*prometheus.GaugeVec]*string{m.hitRate: part.HitRate, m.t2HitRate: part.T2HitRate} {
		if value, err := strconv.ParseFloat(ptr.Deref(rate, ""), 64); err == nil {
			gauge.WithLabelValues(labels...).Set(value)
		} else {
			gauge.DeleteLabelValues(labels...)
		}
	}
	if index == nil || index.Entry == nil || index.Entry.T2QueryTokens == nil || index.Entry.T2HitTokens == nil {
		return
	}
	m.countT2(client.ObjectKeyFromObject(backend), tokens{*index.Entry.T2QueryTokens, *index.Entry.T2HitTokens})
}

// countT2 adds what the index's counts have grown by. They fall when an engine goes,
// which took nothing back; and what was counted before the first look happened at a
// time that is not known.
func (m *controllerMetrics) countT2(name types.NamespacedName, now tokens) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known := m.counted[name]
	m.counted[name] = now
	queries, hits := m.t2Queries.WithLabelValues(name.Namespace, name.Name), m.t2Hits.WithLabelValues(name.Namespace, name.Name)
	if known {
		queries.Add(float64(max(0, now.queries-before.queries)))
		hits.Add(float64(max(0, now.hits-before.hits)))
	}
}

// forget drops the series of a backend that is gone.
func (m *controllerMetrics) forget(namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.counted, types.NamespacedName{Namespace: namespace, Name: name})
	for _, vec := range []*prometheus.MetricVec{
		m.cascades.MetricVec, m.probes.MetricVec, m.hitRate.MetricVec, m.t2HitRate.MetricVec, m.t2Queries.MetricVec, m.t2Hits.MetricVec,
	} {
		vec.DeletePartialMatch(prometheus.Labels{"namespace": namespace, "backend": name})
	}
}
