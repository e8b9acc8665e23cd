/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"github.com/prometheus/client_golang/prometheus"

	"inferencecache.io/inference-cache/pkg/index"
)

// gauges reads the state of the index when it is scraped. A scrape costs a look
// at every holder's counters.
type gauges struct {
	server    *Server
	streams   *prometheus.Desc
	lookups   *prometheus.Desc
	holders   *prometheus.Desc
	blocks    *prometheus.Desc
	complete  *prometheus.Desc
	memory    *prometheus.Desc
	forgotten *prometheus.Desc
	evicted   *prometheus.Desc
}

func newGauges(s *Server) *gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("inferencecache_"+name, help, labels, nil)
	}
	return &gauges{
		server:    s,
		streams:   desc("report_streams", "Open report streams."),
		lookups:   desc("lookup_streams", "Open lookup streams."),
		holders:   desc("index_holders", "Engine ranks that the index knows, by state.", "state"),
		blocks:    desc("index_blocks", "Blocks that the holders have, by tier. One that several holders have counts for each.", "tier"),
		memory:    desc("index_memory_bytes", "Memory that the blocks of the index take."),
		forgotten: desc("index_forgotten_blocks", "Blocks that holders have and the index did not keep, for its memory, a quota or a TTL."),
		evicted:   desc("index_evictions_total", "Blocks that the index forgot, by the order in which (lru, lfu) and the reason why: cap for its memory or a quota, ttl.", "algorithm", "reason"),
		complete:  desc("index_complete", "1 while the index has the state of every holder, else 0."),
	}
}

// Describe sends the descriptions of the gauges.
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.streams, g.lookups, g.holders, g.blocks, g.complete, g.memory, g.forgotten, g.evicted} {
		out <- d
	}
}

// Collect sends the values as they are now.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	views, complete := g.server.config.Index.Holders(g.server.config.Clock.Now())
	var byState [index.Degraded + 1]int
	var byTier [3]int64
	var forgotten int64
	for i := range views {
		byState[views[i].State]++
		forgotten += views[i].Forgotten
		for t, n := range views[i].Blocks {
			byTier[t] += n
		}
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(g.streams, float64(g.server.streams.Load()))
	gauge(g.lookups, float64(g.server.lookupStreams.Load()))
	for state, n := range byState {
		gauge(g.holders, float64(n), index.State(state).String())
	}
	for t, n := range byTier {
		gauge(g.blocks, float64(n), [...]string{"T1", "T2", "T3"}[t])
	}
	gauge(g.memory, float64(g.server.config.Index.MemoryUse()))
	gauge(g.forgotten, float64(forgotten))
	for cause, reason := range [...]string{"cap", "ttl"} {
		for order, algorithm := range [...]string{"lru", "lfu"} {
			n := g.server.config.Index.Evicted(index.Cause(cause), index.Eviction(order))
			out <- prometheus.MustNewConstMetric(g.evicted, prometheus.CounterValue, float64(n), algorithm, reason)
		}
	}
	gauge(g.complete, map[bool]float64{true: 1}[complete])
}
