/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Reasons that the webhook adds to those of package wiring.
const (
	// reasonNone is that of a Pod that was wired.
	reasonNone = ""
	// reasonUnread: what is needed of the cluster could not be read: the backends, the
	// Pods beside this one, or the cluster's version.
	reasonUnread = "cluster-unread"
	// reasonDefect: the webhook itself failed.
	reasonDefect = "defect"
)

// Outcomes of an admission that concerns a backend.
const (
	outcomeWired   = "wired"
	outcomeSkipped = "skipped"
	outcomeFailed  = "failed"
)

// metrics counts what became of Pods. Those that no backend selects are not counted.
type metrics struct {
	injections *prometheus.CounterVec
}

// newMetrics registers the metrics. Every series is there from the start.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{injections: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "inferencecache_pod_injections_total",
		Help: "Pods on whose creation the webhook decided, by outcome (wired, skipped, failed) and the reason why they were not wired.",
	}, []string{"outcome", "reason"})}
	m.injections.WithLabelValues(outcomeWired, reasonNone)
	m.injections.WithLabelValues(outcomeSkipped, v1alpha1.InjectSkippedByAnnotation)
	for _, reason := range wiring.Reasons() {
		m.injections.WithLabelValues(outcomeSkipped, reason)
	}
	for _, reason := range []string{reasonUnread, reasonDefect} {
		m.injections.WithLabelValues(outcomeFailed, reason)
	}
	if err := registerer.Register(m.injections); err != nil {
		return nil, fmt.Errorf("register the metrics of the Pod webhook: %w", err)
	}
	return m, nil
}

func (m *metrics) count(outcome, reason string) {
	m.injections.WithLabelValues(outcome, reason).Inc()
}
