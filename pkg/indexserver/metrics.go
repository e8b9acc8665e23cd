/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

// Values of labels. Nothing that a client says becomes one.
const (
	deltaInvalid    = "invalid"
	chunkTaken      = "taken"
	chunkInvalid    = "invalid"
	resyncDelta     = "delta"
	resyncHeartbeat = "heartbeat"
	refusedMissing  = "missing"
	refusedToken    = "refused"
	// refusedUnasked tokens came from an address with too many mistakes; for
	// refusedUndecided ones nobody could be asked.
	refusedUnasked   = "unasked"
	refusedUndecided = "undecided"
	fromMemory       = "memory"
	fromQuestion     = "question"
	blocksStored     = "stored"
	blocksRemoved    = "removed"
	tokenizeDone     = "done"
	tokenizeFailed   = "failed"
	tokenizeTimeout  = "timeout"
	tokenizeBusy     = "busy"
)

// metrics are what the server counts itself; see gauges for what it reads.
type metrics struct {
	lookups *prometheus.CounterVec
	latency prometheus.Histogram
	deltas  *prometheus.CounterVec
	chunks  *prometheus.CounterVec
	resyncs *prometheus.CounterVec
	ends    *prometheus.CounterVec
	refused *prometheus.CounterVec
	// known and asked count decisions about callers and about tenants by whether they
	// were remembered.
	knownCallers, askedCallers, knownTenants, askedTenants prometheus.Counter

	stored  prometheus.Counter
	removed prometheus.Counter
	// tokenized counts prompts that came as text.
	tokenized *prometheus.CounterVec
	// byReason are the series of lookups, which are needed too often to be searched for.
	byReason map[routing.Reason]prometheus.Counter
}

// newMetrics makes the metrics of a server and registers them, when there is
// somewhere to.
func newMetrics(r prometheus.Registerer, s *Server) (*metrics, error) {
	counter := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "inferencecache_" + name, Help: help}, []string{label})
	}
	blocks := counter("report_blocks_total", "Blocks in deltas and snapshots that were applied, by what was done with them.", "change")
	callers := counter("authentications_total", "Whose a token is, by where that came from. A question is one to the authenticator.", "source")
	tenants := counter("authorizations_total", "Whether a caller may ask about a tenant, by where that came from. A question is one to the authorizer.", "source")
	m := &metrics{
		lookups: counter("lookups_total", "Answered lookups by reason code.", "reason"),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "inferencecache_lookup_duration_seconds",
			Help: "Time from a decoded lookup to its answer.",
			// 1 microsecond to 0.26 seconds: the lookup of a long chain takes
			// microseconds, hashing a prompt of a million tokens milliseconds.
			Buckets: prometheus.ExponentialBuckets(1e-6, 4, 10),
		}),
		deltas:  counter("report_deltas_total", "Deltas by what became of them.", "outcome"),
		chunks:  counter("report_snapshot_chunks_total", "Snapshot chunks by what became of them.", "outcome"),
		resyncs: counter("report_resyncs_total", "Snapshots asked for because of a hole, by the message that showed it.", "cause"),
		ends:    counter("report_stream_ends_total", "Ended report streams by gRPC code.", "code"),
		refused: counter("unauthenticated_calls_total", "Calls without a token or with one that was not taken.", "token"),

		knownCallers: callers.WithLabelValues(fromMemory),
		askedCallers: callers.WithLabelValues(fromQuestion),
		knownTenants: tenants.WithLabelValues(fromMemory),
		askedTenants: tenants.WithLabelValues(fromQuestion),

		stored:  blocks.WithLabelValues(blocksStored),
		removed: blocks.WithLabelValues(blocksRemoved),

		tokenized: counter("lookup_tokenizations_total", "Prompts that came as text, by what became of them at the tokenizer.", "outcome"),
		byReason:  map[routing.Reason]prometheus.Counter{},
	}
	m.initialise()
	if r == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.lookups, m.latency, m.deltas, m.chunks, m.resyncs, m.ends, m.refused, m.tokenized, blocks, callers, tenants, newGauges(s)} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}

// initialise makes every series exist from the start, so that a rate over the
// first event of its kind is not lost.
func (m *metrics) initialise() {
	for _, reason := range routing.Reasons() {
		m.byReason[reason] = m.lookups.WithLabelValues(string(reason))
	}
	for _, outcome := range []string{tokenizeDone, tokenizeFailed, tokenizeTimeout, tokenizeBusy} {
		m.tokenized.WithLabelValues(outcome)
	}
	for _, outcome := range []index.Outcome{index.Applied, index.Duplicate, index.Gap, index.Ignored} {
		m.deltas.WithLabelValues(nameOfOutcome(outcome))
	}
	m.deltas.WithLabelValues(deltaInvalid)
	m.chunks.WithLabelValues(chunkTaken)
	m.chunks.WithLabelValues(chunkInvalid)
	m.resyncs.WithLabelValues(resyncDelta)
	m.resyncs.WithLabelValues(resyncHeartbeat)
	for _, token := range []string{refusedMissing, refusedToken, refusedUnasked, refusedUndecided} {
		m.refused.WithLabelValues(token)
	}
}

// answered counts a lookup.
func (m *metrics) answered(reason routing.Reason) { m.byReason[reason].Inc() }

// countBlocks counts the blocks of changes that were applied.
func (m *metrics) countBlocks(changes []index.Change) {
	for i := range changes {
		switch c := &changes[i]; c.Op {
		case index.Store:
			m.stored.Add(float64(len(c.Hashes)))
		case index.Remove:
			m.removed.Add(float64(len(c.Hashes)))
		case index.DeclareScope, index.DeclareGroup, index.Clear, index.SetConfidence:
		}
	}
}

func nameOfOutcome(o index.Outcome) string {
	return [...]string{"applied", "duplicate", "gap", "ignored"}[o]
}
