/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

// epochStart is when every fixture begins.
var epochStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fixture is a warm index under a clock that stands still.
type fixture struct {
	t     testing.TB
	index *index.Index
	clock *clocktesting.FakeClock
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return &fixture{
		t:     t,
		index: index.New(index.Options{WarmUp: -1}, epochStart),
		clock: clocktesting.NewFakeClock(epochStart),
	}
}

func (f *fixture) source() Source {
	return Source{Index: f.index, Name: "replica-a", Clock: clock.WithTicker(f.clock)}
}

// lookuper answers from the fixture.
func (f *fixture) lookuper() Lookuper {
	return Lookuper{Source: f.source(), Router: router{routing.New(routing.Config{Index: f.index})}}
}

// router stands for the index server.
type router struct{ *routing.Router }

func (r router) Lookup(ctx context.Context, q *routing.Request) routing.Response {
	q.Now = epochStart
	return r.Route(ctx, q)
}

// engine is a holder of the fixture with an open session.
type engine struct {
	f        *fixture
	stream   index.Stream
	sequence uint64
}

// connect opens a session of a rank that belongs to CacheBackend ns/cb and
// declares one full-attention group with blocks of 16 tokens.
func (f *fixture) connect(pod string, rank uint32, changes ...func(*index.Hello)) *engine {
	f.t.Helper()
	hello := index.Hello{
		Holder:  index.Holder{Namespace: "ns", Pod: pod, Rank: rank},
		Backend: index.Backend{Namespace: "ns", Name: "cb"},
		Tenant:  "ns", Model: "m", HashScheme: "scheme", Engine: "vllm/0.32.0", Epoch: 7,
	}
	for _, change := range changes {
		change(&hello)
	}
	stream, _, err := f.index.Open(hello, f.clock.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	e := &engine{f: f, stream: stream}
	e.apply(
		index.Change{Op: index.DeclareScope, ScopeID: 1, Scope: index.Scope{BlockSize: 16}},
		index.Change{Op: index.DeclareGroup, Group: index.Group{Kind: index.FullGroup, SpecKind: "full_attention", BlockSize: 16}},
	)
	return e
}

func (e *engine) apply(changes ...index.Change) {
	e.f.t.Helper()
	e.sequence++
	now := e.f.clock.Now()
	if outcome, err := e.f.index.Delta(e.stream, e.sequence, changes, now, now); err != nil || outcome != index.Applied {
		e.f.t.Fatalf("delta %d: outcome %v, error %v", e.sequence, outcome, err)
	}
}

// store adds a chain from its first block on.
func (e *engine) store(tier index.Tier, hashes ...uint64) {
	e.f.t.Helper()
	e.apply(index.Change{Op: index.Store, ScopeID: 1, Tier: tier, Hashes: hashes})
}

func (e *engine) stats(s index.Stats) {
	e.f.t.Helper()
	s.Time = e.f.clock.Now()
	if err := e.f.index.SetStats(e.stream, s); err != nil {
		e.f.t.Fatal(err)
	}
}

// busy are the statistics of an engine that reports everything.
func busy(hits, queries int64, pressure float64) index.Stats {
	return index.Stats{
		Running: ptr.To[int64](3), Waiting: ptr.To[int64](1), CacheUsage: ptr.To(0.25),
		HitTokens: &hits, QueryTokens: &queries, T2HitTokens: ptr.To[int64](5), T2QueryTokens: ptr.To[int64](6),
		CacheMemoryBytes: ptr.To[int64](1 << 30), Pressure: &pressure,
	}
}
