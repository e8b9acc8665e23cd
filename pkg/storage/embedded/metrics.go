/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// collectors returns the gauges of this server. They read etcd when scraped, so
// that an alert does not wait for a poll.
func (s *Server) collectors() []prometheus.Collector {
	alarm := func(kind pb.AlarmType, label string) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "inferencecache_embedded_etcd_alarm",
			Help:        "1 while the embedded etcd has raised this alarm and refuses writes.",
			ConstLabels: prometheus.Labels{"alarm": label},
		}, func() float64 {
			if s.alarmed(kind) {
				return 1
			}
			return 0
		})
	}
	return []prometheus.Collector{
		alarm(pb.AlarmType_NOSPACE, "nospace"),
		alarm(pb.AlarmType_CORRUPT, "corrupt"),
	}
}

// Gatherer returns etcd's own metrics (database size, quota, disk sync
// latency), and only those. etcd registers them with Prometheus' default
// registry when its packages are loaded, beside the process and Go collectors
// that every other registry of the process has as well; merging those would
// report duplicates.
func Gatherer() prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := prometheus.DefaultGatherer.Gather()
		var own []*dto.MetricFamily
		for _, mf := range all {
			if strings.HasPrefix(mf.GetName(), "etcd_") {
				own = append(own, mf)
			}
		}
		return own, err
	})
}
