/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/metrics/legacyregistry"

	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

const metricsPath = "/metrics"

// installMetrics replaces the library's metrics endpoint, which knows only the
// registry that the library registers with, by one that answers for the whole
// process. The sources are disjoint by construction: the library's registry has
// the process and Go collectors, ours has only what carries our prefix, and of
// etcd's only etcd's own series are taken. An overlap would be a bug, and shows
// as a failed scrape.
func installMetrics(server *genericapiserver.GenericAPIServer, own prometheus.Gatherer, withEtcd bool) {
	sources := prometheus.Gatherers{
		prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
			families, err := legacyregistry.DefaultGatherer.Gather()
			if err != nil {
				return families, fmt.Errorf("gather metrics of the API server library: %w", err)
			}
			return families, nil
		}),
		own,
	}
	if withEtcd {
		sources = append(sources, embedded.Gatherer())
	}
	var handler http.Handler = promhttp.HandlerFor(sources, promhttp.HandlerOpts{ProcessStartTime: legacyregistry.GetProcessStart()})
	mux := server.Handler.NonGoRestfulMux
	mux.Unregister(metricsPath)
	mux.Handle(metricsPath, handler)
}
