/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// registrationProblem is the label of the metric of problems.
type registrationProblem string

const (
	// problemCRD is a CustomResourceDefinition that serves our group and version.
	problemCRD registrationProblem = "crd"
	// problemAPIService is an APIService of our name that points elsewhere.
	problemAPIService registrationProblem = "apiservice"
	// problemBundle is a bundle that could not be published.
	problemBundle registrationProblem = "bundle"
)

// registrationMetrics count what stands between the cluster and this server.
type registrationMetrics struct {
	problems *prometheus.GaugeVec
}

func newRegistrationMetrics(registerer prometheus.Registerer) (*registrationMetrics, error) {
	m := &registrationMetrics{problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "inferencecache_registration_problems",
		Help: "Objects of the cluster that keep it from this server: crd serves our group, apiservice points elsewhere, bundle could not be published.",
	}, []string{"problem"})}
	for _, p := range []registrationProblem{problemCRD, problemAPIService, problemBundle} {
		m.set(p, 0)
	}
	if err := registerer.Register(m.problems); err != nil {
		return nil, fmt.Errorf("register registration metrics: %w", err)
	}
	return m, nil
}

func (m *registrationMetrics) set(problem registrationProblem, count int) {
	m.problems.WithLabelValues(string(problem)).Set(float64(count))
}
