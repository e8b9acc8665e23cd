/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Values of labels.
const (
	reviewTaken   = "taken"
	reviewRefused = "refused"
	reviewFailed  = "failed"
	podCached     = "cached"
	podFound      = "found"
	podAbsent     = "absent"
	podReplaced   = "replaced"
	podFailed     = "failed"
)

// accessMetrics are what is asked of the cluster about callers of the gRPC port.
type accessMetrics struct {
	reviews, pods       *prometheus.CounterVec
	reviewTime, podTime prometheus.Histogram
}

// newAccessMetrics makes the metrics and registers them.
func newAccessMetrics(r prometheus.Registerer) (*accessMetrics, error) {
	duration := func(name, help string) prometheus.Histogram {
		// 1 millisecond to 16 seconds: the cluster answers from memory, and not at all
		// after 10 seconds.
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(1e-3, 2, 15)})
	}
	m := &accessMetrics{
		reviews: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inferencecache_token_reviews_total",
			Help: "Token reviews that the cluster was asked for, by what it said. A wrong token takes two.",
		}, []string{"result"}),
		pods: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inferencecache_pod_reads_total",
			Help: "Pods that were looked at for reports, by where they were found: cached, or what the cluster said.",
		}, []string{"result"}),
		reviewTime: duration("inferencecache_token_review_duration_seconds", "Time that the cluster took for a token review."),
		podTime:    duration("inferencecache_pod_read_duration_seconds", "Time that the cluster took to return the metadata of a Pod."),
	}
	for _, result := range []string{reviewTaken, reviewRefused, reviewFailed} {
		m.reviews.WithLabelValues(result)
	}
	for _, result := range []string{podCached, podFound, podAbsent, podReplaced, podFailed} {
		m.pods.WithLabelValues(result)
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.reviews, m.pods, m.reviewTime, m.podTime} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}
