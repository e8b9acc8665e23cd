/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

// Metrics are what a [Fanout] counts. The label address is that of an index
// replica; it comes from the resolver and goes with the address.
type Metrics struct {
	sessions  *prometheus.GaugeVec
	deltas    *prometheus.CounterVec
	snapshots *prometheus.CounterVec
	failures  *prometheus.CounterVec
	acked     *prometheus.GaugeVec
}

// NewMetrics registers the metrics of sessions with the index.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	labels := []string{"address", "rank"}
	m := &Metrics{
		sessions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "inferencecache_subscriber_sessions",
			Help: "1 while the session of an engine rank with an index replica is established.",
		}, labels),
		deltas: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inferencecache_subscriber_deltas_sent_total",
			Help: "Deltas sent to an index replica.",
		}, labels),
		snapshots: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inferencecache_subscriber_snapshots_sent_total",
			Help: "Snapshots sent to an index replica.",
		}, labels),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "inferencecache_subscriber_session_failures_total",
			Help: "Sessions that ended with an error or could not be opened.",
		}, labels),
		acked: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "inferencecache_subscriber_acknowledged_sequence",
			Help: "Newest delta that an index replica has applied, counted from the start of the epoch.",
		}, labels),
	}
	registerer.MustRegister(m.sessions, m.deltas, m.snapshots, m.failures, m.acked)
	return m
}

// sessionMetrics are those of one rank and address.
type sessionMetrics struct {
	session           prometheus.Gauge
	deltas, snapshots prometheus.Counter
	failures          prometheus.Counter
	acked             prometheus.Gauge
}

func (m *Metrics) session(address string, rank uint32) *sessionMetrics {
	labels := prometheus.Labels{"address": address, "rank": strconv.FormatUint(uint64(rank), 10)}
	return &sessionMetrics{
		session: m.sessions.With(labels), deltas: m.deltas.With(labels), snapshots: m.snapshots.With(labels),
		failures: m.failures.With(labels), acked: m.acked.With(labels),
	}
}

// forget drops the series of an address that is gone.
func (m *Metrics) forget(address string) {
	labels := prometheus.Labels{"address": address}
	m.sessions.DeletePartialMatch(labels)
	m.deltas.DeletePartialMatch(labels)
	m.snapshots.DeletePartialMatch(labels)
	m.failures.DeletePartialMatch(labels)
	m.acked.DeletePartialMatch(labels)
}

func (m *sessionMetrics) connected(is bool) {
	if is {
		m.session.Set(1)
		return
	}
	m.session.Set(0)
}

func (m *sessionMetrics) acknowledged(sequence uint64) { m.acked.Set(float64(sequence)) }

// journalCollector exports what the mirrors behind journals have seen.
type journalCollector struct {
	journals []*Journal
	counters map[*prometheus.Desc]func(mirror.Stats) int64
	gauges   map[*prometheus.Desc]func(mirror.Stats, mirror.Confidence) int64
	// sequence and waiting are the journal's own progress.
	sequence, waiting *prometheus.Desc
}

// NewJournalCollector returns a collector of what journals hold and have seen.
func NewJournalCollector(journals ...*Journal) prometheus.Collector {
	c := &journalCollector{
		journals: journals,
		counters: map[*prometheus.Desc]func(mirror.Stats) int64{},
		gauges:   map[*prometheus.Desc]func(mirror.Stats, mirror.Confidence) int64{},
		sequence: prometheus.NewDesc("inferencecache_subscriber_delta_sequence",
			"Newest delta made, counted from the start of the epoch.", []string{"rank"}, nil),
		waiting: prometheus.NewDesc("inferencecache_subscriber_changes_waiting",
			"1 while changes wait for the end of the window before they are reported.", []string{"rank"}, nil),
	}
	counter := func(name, help string, value func(mirror.Stats) int64) {
		c.counters[prometheus.NewDesc("inferencecache_subscriber_"+name, help, []string{"rank"}, nil)] = value
	}
	gauge := func(name, help string, value func(mirror.Stats, mirror.Confidence) int64) {
		c.gauges[prometheus.NewDesc("inferencecache_subscriber_"+name, help, []string{"rank"}, nil)] = value
	}
	counter("stored_events_total", "BlockStored events taken.", func(s mirror.Stats) int64 { return s.StoredEvents })
	counter("removed_events_total", "BlockRemoved events taken.", func(s mirror.Stats) int64 { return s.RemovedEvents })
	counter("cleared_events_total", "AllBlocksCleared events taken.", func(s mirror.Stats) int64 { return s.Clears })
	counter("malformed_events_total", "Events that could not be read or contradict themselves.", func(s mirror.Stats) int64 { return s.Malformed })
	counter("foreign_events_total", "Events about blocks that are not the engine's own.", func(s mirror.Stats) int64 { return s.Foreign })
	counter("unknown_medium_events_total", "Events of a tier that is not known.", func(s mirror.Stats) int64 { return s.UnknownMedium })
	counter("unknown_removals_total", "Removals of blocks that were not resident.", func(s mirror.Stats) int64 { return s.UnknownRemovals })
	counter("unknown_stores_total", "Stores without tokens of blocks that were not known.", func(s mirror.Stats) int64 { return s.UnknownStores })
	counter("refused_blocks_total", "Blocks beyond the memory limit.", func(s mirror.Stats) int64 { return s.Refused })
	counter("dropped_blocks_total", "Blocks of unknown position that were given up.", func(s mirror.Stats) int64 { return s.Dropped })
	counter("remapped_blocks_total", "Engine hashes that changed their content.", func(s mirror.Stats) int64 { return s.Remapped })
	counter("removal_rule_changes_total", "Changes to the last-copy rule by the audit of copies.", func(s mirror.Stats) int64 { return s.RuleChanges })
	gauge("known_hashes", "Engine hashes known now.", func(s mirror.Stats, _ mirror.Confidence) int64 { return int64(s.Known) })
	gauge("ghost_hashes", "Known hashes without a resident copy.", func(s mirror.Stats, _ mirror.Confidence) int64 { return int64(s.Ghosts) })
	gauge("unplaced_hashes", "Known hashes whose position is not known.", func(s mirror.Stats, _ mirror.Confidence) int64 { return int64(s.Unplaced) })
	gauge("contents", "Contents known now.", func(s mirror.Stats, _ mirror.Confidence) int64 { return int64(s.Contents) })
	gauge("conflicts", "Contents known under two engine hashes.", func(_ mirror.Stats, c mirror.Confidence) int64 { return c.Conflicts })
	gauge("unresolved_blocks", "Resident blocks whose position is not known.", func(_ mirror.Stats, c mirror.Confidence) int64 { return c.Unresolved })
	gauge("degraded", "1 while the state is known to be less than what the engine holds.", func(_ mirror.Stats, c mirror.Confidence) int64 {
		if c.Degraded != "" {
			return 1
		}
		return 0
	})
	return c
}

// Describe implements prometheus.Collector.
func (c *journalCollector) Describe(ch chan<- *prometheus.Desc) {
	for desc := range c.counters {
		ch <- desc
	}
	for desc := range c.gauges {
		ch <- desc
	}
	ch <- c.sequence
	ch <- c.waiting
}

// Collect implements prometheus.Collector.
func (c *journalCollector) Collect(ch chan<- prometheus.Metric) {
	for _, j := range c.journals {
		stats, confidence := j.MirrorStats()
		rank := strconv.FormatUint(uint64(j.Rank()), 10)
		for desc, value := range c.counters {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value(stats)), rank)
		}
		for desc, value := range c.gauges {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value(stats, confidence)), rank)
		}
		sequence, waiting := j.Progress()
		ch <- prometheus.MustNewConstMetric(c.sequence, prometheus.GaugeValue, float64(sequence), rank)
		ch <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, oneIf(waiting), rank)
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
