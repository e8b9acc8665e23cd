/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
	"inferencecache.io/inference-cache/pkg/subscriber/source"
	"inferencecache.io/inference-cache/test/engine/sim"
)

// graceClock is a clock that is stepped. Delayed functions run beside the step,
// because they ask for the time.
type graceClock struct{ *clocktesting.FakeClock }

func (c graceClock) AfterFunc(d time.Duration, fn func()) clock.Timer {
	return c.FakeClock.AfterFunc(d, func() { go fn() })
}

// line is the way to an engine's real sockets, which can be cut.
type line struct {
	source.Sockets

	mu     sync.Mutex
	isCut  bool
	stream source.Stream
}

// Subscribe implements source.Engine.
func (l *line) Subscribe(ctx context.Context) (source.Stream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		return nil, errors.New("connection refused")
	}
	stream, err := l.Sockets.Subscribe(ctx)
	l.stream = stream
	return stream, err
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	if l.stream != nil {
		_ = l.stream.Close() // its reader notices
	}
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = false
}

// rank is an engine rank that reports to a server.
type rank struct {
	engine  *sim.Engine
	line    *line
	journal *report.Journal
	metrics *source.RankMetrics
}

// heard is a data-parallel engine with everything behind it.
type heard struct {
	ranks  []*rank
	server *indexservertest.Instance
	ticks  graceClock
	// sessions counts those that have been opened.
	sessions atomic.Int64
}

func listenTo(t *testing.T, ranks int, cut bool) *heard {
	t.Helper()
	h := &heard{server: indexservertest.Start(t), ticks: graceClock{clocktesting.NewFakeClock(time.Unix(1_000_000, 0))}}
	registry := prometheus.NewRegistry()
	metrics := source.NewMetrics(registry)
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	var journals []*report.Journal
	for i := range ranks {
		engine, err := sim.New(sim.Config{Rank: i})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = engine.Close() })
		r := &rank{
			engine: engine, metrics: metrics.Rank(uint32(i)),
			line: &line{isCut: cut, Sockets: source.Sockets{Endpoint: engine.EventsEndpoint(), ReplayEndpoint: engine.ReplayEndpoint()}},
			journal: report.NewJournal(report.JournalOptions{
				Rank: uint32(i), MaxPending: 1, Mirror: mirror.Options{Engine: mirror.VLLM}, Clock: h.ticks,
			}),
		}
		h.ranks, journals = append(h.ranks, r), append(journals, r.journal)
		src := source.New(source.Options{Engine: r.line, Sink: r.journal, Metrics: r.metrics, MaxPause: 200 * time.Millisecond})
		running.Go(func() { src.Run(ctx) })
	}
	fanout, err := report.NewFanout(report.Config{
		Server: "127.0.0.1:9090", Metrics: report.NewMetrics(registry),
		Identity: report.Identity{Namespace: "team-a", Pod: "pod-0", Tenant: "team-a", Model: "tiny-llama", HashScheme: "vllm", Engine: "vllm"},
		Connect: func(string) (report.Connection, error) {
			h.sessions.Add(1)
			return report.Connection{InferenceCacheClient: h.server.Client(t), Closer: io.NopCloser(nil)}, nil
		},
	}, journals...)
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() { _ = fanout.Run(ctx) }) // ends with the context only
	return h
}

// work lets a rank compute something.
func (h *heard) work(t *testing.T, r *rank, token uint32) {
	t.Helper()
	tokens := make([]uint32, 64)
	for i := range tokens {
		tokens[i] = token + uint32(i)
	}
	if _, err := r.engine.Request(t.Context(), sim.Request{Tokens: tokens}); err != nil {
		t.Fatal(err)
	}
}

// view returns what the server knows of a rank, nil when it knows nothing.
func (h *heard) view(rank int) *index.HolderView {
	views, _ := h.server.Index.Holders(h.server.Clock.Now())
	for i := range views {
		if views[i].Holder.Rank == uint32(rank) {
			return &views[i]
		}
	}
	return nil
}

// await waits until the server shows a rank in a state, with all that it did.
func (h *heard) await(t *testing.T, rank int, state index.State) *index.HolderView {
	t.Helper()
	var view *index.HolderView
	indexservertest.Await(t, "state "+state.String(), func() bool {
		view = h.view(rank)
		sequence, _ := h.ranks[rank].journal.Progress()
		return view != nil && view.State == state && sequence > 0 && view.Sequence == sequence
	})
	return view
}

// awaitCount waits until a counter has a value or more.
func awaitCount(t *testing.T, what string, counter prometheus.Collector, least float64) {
	t.Helper()
	indexservertest.Await(t, what, func() bool { return testutil.ToFloat64(counter) >= least })
}

// TestNothingIsSaidOfAnEngineThatNeverAnswered has one that answers late.
func TestNothingIsSaidOfAnEngineThatNeverAnswered(t *testing.T) {
	h := listenTo(t, 1, true)
	awaitCount(t, "attempts", h.ranks[0].metrics.Disconnects, 3)
	h.ticks.Step(2 * report.Grace)
	if opened, view := h.sessions.Load(), h.view(0); opened != 0 || view != nil {
		t.Fatalf("%d sessions opened, the index shows %+v; want nothing", opened, view)
	}
	h.work(t, h.ranks[0], 1)
	h.ranks[0].line.mend()
	h.await(t, 0, index.Live)
}

// TestShortInterruptionsEndNothing has some, each within the grace.
func TestShortInterruptionsEndNothing(t *testing.T) {
	h := listenTo(t, 1, false)
	r := h.ranks[0]
	h.work(t, r, 1)
	before := h.await(t, 0, index.Live)
	for i := range 3 {
		failures := testutil.ToFloat64(r.metrics.Disconnects)
		r.line.cut()
		awaitCount(t, "the end of the stream", r.metrics.Disconnects, failures+2)
		h.ticks.Step(report.Grace - time.Nanosecond)
		r.line.mend()
		h.work(t, r, uint32(100*i+100))
		indexservertest.Await(t, "the stream", func() bool {
			sequence, _ := r.journal.Progress()
			return testutil.ToFloat64(r.metrics.Connected) == 1 && sequence > before.Sequence
		})
		after := h.await(t, 0, index.Live)
		if opened := h.sessions.Load(); opened != 1 || after.Epoch != before.Epoch {
			t.Fatalf("interruption %d: %d sessions, epoch %d, was %d; want one session and no other epoch", i, opened, after.Epoch, before.Epoch)
		}
		before = after
	}
}

// TestOnlyAHeardRankIsSpokenFor loses the stream of one rank of two, and then has
// it back: from the same engine, or from one that started anew meanwhile.
func TestOnlyAHeardRankIsSpokenFor(t *testing.T) {
	tests := map[string]struct{ restart, dropped bool }{
		"back within the lease":           {},
		"back after the lease":            {dropped: true},
		"another engine within the lease": {restart: true},
		"another engine after the lease":  {restart: true, dropped: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h := listenTo(t, 2, false)
			for i, r := range h.ranks {
				h.work(t, r, 1)
				h.await(t, i, index.Live)
			}
			lost, before := h.ranks[1], h.view(1)
			lost.line.cut()
			awaitCount(t, "attempts", lost.metrics.Disconnects, 2)
			h.ticks.Step(report.Grace)
			h.await(t, 1, index.Suspect)
			if tc.dropped {
				h.server.Clock.Step(index.DefaultLease)
				h.server.Index.Expire(h.server.Clock.Now())
				indexservertest.Await(t, "the end of the lease", func() bool { return h.view(1) == nil })
			}
			if view := h.view(0); view == nil || view.State != index.Live || h.sessions.Load() != 2 {
				t.Fatalf("the other rank is %+v after %d sessions, want it untouched", view, h.sessions.Load())
			}
			if tc.restart {
				if err := lost.engine.Restart(); err != nil {
					t.Fatal(err)
				}
				h.work(t, lost, 1000)
			}
			lost.line.mend()
			after := h.await(t, 1, index.Live)
			if again := after.Epoch != before.Epoch; again != tc.restart || after.Prefixes != before.Prefixes {
				t.Errorf("new epoch %v with %d prefixes, want %v with %d", again, after.Prefixes, tc.restart, before.Prefixes)
			}
			if opened := h.sessions.Load(); opened != 3 {
				t.Errorf("%d sessions, want one more", opened)
			}
		})
	}
}
