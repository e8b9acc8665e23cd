/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/index"
)

func (f *fixture) reader() *IndexReader {
	return NewIndexReader(f.source(), func(n types.NamespacedName) types.UID {
		if n == cb {
			return "uid-of-cb"
		}
		return ""
	})
}

func read(t *testing.T, r *IndexReader) (inferencecache.CacheIndexStatus, uint64) {
	t.Helper()
	got, revision, err := r.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got.Status, revision
}

func TestCacheIndex(t *testing.T) {
	f := newFixture(t)
	a := f.connect("a", 0)
	a.store(index.T1, 1, 2)
	a.stats(busy(10, 40, 0.125))
	f.connect("b", 2, func(h *index.Hello) { h.Backend, h.Tenant = index.Backend{}, "t" }).store(index.T1, 1)
	at := metav1.NewTime(epochStart)
	want := inferencecache.CacheIndexStatus{
		ObservedBy: "replica-a", AsOf: ptr.To(metav1.NewMicroTime(epochStart)), Complete: true, ObservedServer: "replica-a", LastUpdated: &at,
		Prefixes: inferencecache.CacheIndexPrefixes{Summary: inferencecache.CacheIndexPrefixSummary{Total: 3}},
		Backends: []inferencecache.CacheIndexBackend{{
			Namespace: "ns", Name: "cb", UID: "uid-of-cb", PrefixCount: 2, LastEventAt: &at,
			HitTokens: ptr.To[int64](10), QueryTokens: ptr.To[int64](40), T2HitTokens: ptr.To[int64](5), T2QueryTokens: ptr.To[int64](6),
			CacheMemoryBytes: ptr.To[int64](1 << 30), Pressure: ptr.To("0.125"), Exact: true, Complete: true,
		}},
		Replicas: []inferencecache.CacheIndexReplica{
			{Namespace: "ns", Pod: "a", ID: "a", Tenant: "ns", CacheMemoryBytes: ptr.To[int64](1 << 30), HitRate: ptr.To("0.25"), Pressure: ptr.To("0.125"), LastUpdate: &at},
			{Namespace: "ns", Pod: "b", Rank: 2, ID: "b/2", Tenant: "t", LastUpdate: &at},
		},
		Tenants: []inferencecache.CacheIndexTenant{
			{ID: "ns", IndexEntries: ptr.To[int64](2), HitRate: ptr.To("0.25")},
			{ID: "t", IndexEntries: ptr.To[int64](1)},
		},
	}
	got, _ := read(t, f.reader())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong index (-want +got):\n%s", diff)
	}
}

func TestRevisionFollowsContent(t *testing.T) {
	f := newFixture(t)
	a := f.connect("a", 0)
	r := f.reader()
	_, first := read(t, r)
	f.clock.Step(time.Hour)
	if status, revision := read(t, r); revision != first || !status.LastUpdated.Time.Equal(epochStart) {
		t.Errorf("time alone changed the revision from %d to %d, last updated %v", first, revision, status.LastUpdated)
	}
	a.store(index.T1, 1)
	status, second := read(t, r)
	if second <= first {
		t.Errorf("a new block left the revision at %d", second)
	}
	if !status.LastUpdated.Time.Equal(f.clock.Now()) {
		t.Errorf("last updated %v, want %v", status.LastUpdated, f.clock.Now())
	}
}

func TestAnswersAreNotShared(t *testing.T) {
	f := newFixture(t)
	f.connect("a", 0).stats(busy(1, 2, 0.5))
	r := f.reader()
	status, first := read(t, r)
	status.Replicas[0].Pod, *status.Backends[0].HitTokens = "changed", 99
	if got, revision := read(t, r); revision != first || got.Replicas[0].Pod != "a" || *got.Backends[0].HitTokens != 1 {
		t.Error("a caller can change what others read")
	}
}

func TestSubscribe(t *testing.T) {
	f := newFixture(t)
	a := f.connect("a", 0)
	r := f.reader()
	ctx, cancel := context.WithCancel(t.Context())
	signals := r.Subscribe(ctx)

	a.store(index.T1, 1)
	a.store(index.T1, 2)
	select {
	case <-signals:
		t.Fatal("signal before the interval is over")
	default:
	}
	f.clock.Step(SignalInterval)
	select {
	case <-signals:
	case <-time.After(time.Minute):
		t.Fatal("no signal after a change")
	}
	if _, revision := read(t, r); revision != 2 {
		t.Errorf("two changes within an interval made revision %d, want 2", revision)
	}
	cancel()
	select {
	case _, open := <-signals:
		if open {
			t.Error("signal after the context ended")
		}
	case <-time.After(time.Minute):
		t.Error("a subscription outlives its context")
	}
}

func TestWarmUpEndsWithASignal(t *testing.T) {
	f := newFixture(t)
	f.index = index.New(index.Options{WarmUp: time.Second}, epochStart)
	r := f.reader()
	if status, _ := read(t, r); status.Complete {
		t.Fatal("complete before the warm-up is over")
	}
	signals := r.Subscribe(t.Context())
	f.clock.Step(SignalInterval)
	select {
	case <-signals:
	case <-time.After(time.Minute):
		t.Fatal("no signal for the end of the warm-up")
	}
	if status, _ := read(t, r); !status.Complete {
		t.Error("not complete after the warm-up")
	}
}
