/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package source

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what sources count, by rank.
type Metrics struct {
	connected *prometheus.GaugeVec
	sequence  *prometheus.GaugeVec
	counters  map[string]*prometheus.CounterVec
}

// RankMetrics are those of one rank.
type RankMetrics struct {
	// Connected is 1 while subscribed to the live stream.
	Connected prometheus.Gauge
	// Sequence is that of the newest message taken, -1 before the first.
	Sequence prometheus.Gauge
	// Live and Replayed count messages, Unreadable those that were none or that
	// could not be decoded, Lost those that will never be had.
	Live, Replayed, Unreadable, Lost prometheus.Counter
	// Gaps count skipped sequences, Holes the same inside a replay.
	Gaps, Holes prometheus.Counter
	// Replays and ReplayFailures count requests, Restarts those of the engine,
	// Disconnects the ends of subscriptions and failures to subscribe.
	Replays, ReplayFailures, Restarts, Disconnects prometheus.Counter
}

// names and help texts of the counters.
func counterHelp() map[string]string {
	return map[string]string{
		"live_messages_total":       "Messages received on the live stream.",
		"replayed_messages_total":   "Messages received in replays.",
		"unreadable_messages_total": "Messages that could not be read.",
		"lost_messages_total":       "Messages that are lost for good.",
		"gaps_total":                "Skipped sequences on the live stream.",
		"replay_holes_total":        "Skipped sequences inside replays.",
		"replays_total":             "Replays asked for.",
		"replay_failures_total":     "Replays that failed.",
		"engine_restarts_total":     "Times that the engine has started anew.",
		"disconnects_total":         "Subscriptions that ended and attempts that failed.",
	}
}

// NewMetrics registers the metrics of sources.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	m := &Metrics{
		connected: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "inferencecache_subscriber_engine_connected",
			Help: "1 while subscribed to the events of an engine rank.",
		}, []string{"rank"}),
		sequence: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "inferencecache_subscriber_engine_sequence",
			Help: "Sequence of the newest message taken from an engine rank, -1 before the first.",
		}, []string{"rank"}),
		counters: map[string]*prometheus.CounterVec{},
	}
	registerer.MustRegister(m.connected, m.sequence)
	for name, help := range counterHelp() {
		m.counters[name] = prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inferencecache_subscriber_" + name,
			Help: help,
		}, []string{"rank"})
		registerer.MustRegister(m.counters[name])
	}
	return m
}

// Rank returns the metrics of one rank.
func (m *Metrics) Rank(rank uint32) *RankMetrics {
	label := strconv.FormatUint(uint64(rank), 10)
	sequence := m.sequence.WithLabelValues(label)
	sequence.Set(-1)
	counter := func(name string) prometheus.Counter { return m.counters[name].WithLabelValues(label) }
	return &RankMetrics{
		Connected:      m.connected.WithLabelValues(label),
		Sequence:       sequence,
		Live:           counter("live_messages_total"),
		Replayed:       counter("replayed_messages_total"),
		Unreadable:     counter("unreadable_messages_total"),
		Lost:           counter("lost_messages_total"),
		Gaps:           counter("gaps_total"),
		Holes:          counter("replay_holes_total"),
		Replays:        counter("replays_total"),
		ReplayFailures: counter("replay_failures_total"),
		Restarts:       counter("engine_restarts_total"),
		Disconnects:    counter("disconnects_total"),
	}
}
