/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/index"
)

var cb = types.NamespacedName{Namespace: "ns", Name: "cb"}

func observe(t *testing.T, f *fixture, backend types.NamespacedName, options inferencecache.CacheBackendObservationOptions) *inferencecache.CacheBackendObservation {
	t.Helper()
	got, err := Observer{f.source()}.Observe(t.Context(), backend, "uid", &options)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestObserve(t *testing.T) {
	f := newFixture(t)
	a, b := f.connect("a", 0), f.connect("b", 1)
	a.store(index.T1, 1, 2, 3)
	a.store(index.T2, 1)
	b.store(index.T1, 1, 2)
	a.stats(busy(10, 40, 0.5))
	b.stats(index.Stats{HitTokens: ptr.To[int64](2)})
	at := metav1.NewMicroTime(epochStart)
	full := []inferencecache.KVCacheGroup{{Kind: "full_attention"}}
	want := &inferencecache.CacheBackendObservation{
		ObservedBy: "replica-a",
		AsOf:       at,
		Complete:   true,
		Summary: inferencecache.ObservationSummary{
			PrefixCount: 5, Blocks: inferencecache.TierBlocks{T1: 5, T2: 1}, Replicas: 2, FirstEventAt: &at, LastEventAt: &at,
			HitTokens: ptr.To[int64](12), QueryTokens: ptr.To[int64](40), T2HitTokens: ptr.To[int64](5), T2QueryTokens: ptr.To[int64](6),
			CacheMemoryBytes: ptr.To[int64](1 << 30), Pressure: ptr.To("0.5"),
		},
		Replicas: []inferencecache.ObservedReplica{
			{
				Namespace: "ns", Pod: "a", State: "Live", Epoch: 7, Sequence: 3, LastEventAt: &at, Engine: "vllm/0.32.0", Model: "m", BlockSize: 16,
				Groups: full, Exact: true, PrefixCount: 3, Blocks: inferencecache.TierBlocks{T1: 3, T2: 1},
				Load: &inferencecache.EngineLoad{Running: 3, Waiting: 1, CacheUsage: ptr.To("0.25")},
			},
			{
				Namespace: "ns", Pod: "b", Rank: 1, State: "Live", Epoch: 7, Sequence: 2, LastEventAt: &at, Engine: "vllm/0.32.0", Model: "m", BlockSize: 16,
				Groups: full, Exact: true, PrefixCount: 2, Blocks: inferencecache.TierBlocks{T1: 2},
			},
		},
		Scopes: []inferencecache.ObservedScope{
			{BlockScope: inferencecache.BlockScope{Model: "m", HashScheme: "scheme", BlockSize: 16}, Blocks: 5},
		},
	}
	if diff := cmp.Diff(want, observe(t, f, cb, inferencecache.CacheBackendObservationOptions{})); diff != "" {
		t.Errorf("wrong observation (-want +got):\n%s", diff)
	}
}

func TestObserveOptions(t *testing.T) {
	f := newFixture(t)
	f.connect("a", 0).store(index.T1, 1)
	f.connect("b", 0, func(h *index.Hello) { h.Model = "n" }).store(index.T2, 1)
	f.connect("c", 0, func(h *index.Hello) { h.Backend.Name = "other" }).store(index.T1, 1)
	f.connect("d", 0, func(h *index.Hello) { h.Backend = index.Backend{} }).store(index.T1, 1)
	tests := map[string]struct {
		backend     types.NamespacedName
		tier, model string
		want        []string
	}{
		"all of the backend":  {backend: cb, want: []string{"a", "b"}},
		"one model":           {backend: cb, model: "n", want: []string{"b"}},
		"unknown model":       {backend: cb, model: "x"},
		"one tier":            {backend: cb, tier: "T2", want: []string{"b"}},
		"tier and model":      {backend: cb, tier: "T2", model: "m"},
		"another backend":     {backend: types.NamespacedName{Namespace: "ns", Name: "other"}, want: []string{"c"}},
		"no engine":           {backend: types.NamespacedName{Namespace: "ns", Name: "none"}},
		"same name elsewhere": {backend: types.NamespacedName{Namespace: "elsewhere", Name: "cb"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := observe(t, f, tc.backend, inferencecache.CacheBackendObservationOptions{Tier: tc.tier, Model: tc.model})
			var pods []string
			for _, r := range got.Replicas {
				pods = append(pods, r.Pod)
			}
			if diff := cmp.Diff(tc.want, pods); diff != "" {
				t.Errorf("wrong replicas (-want +got):\n%s", diff)
			}
			if got.Summary.Replicas != int64(len(tc.want)) || got.Summary.PrefixCount != int64(len(tc.want)) {
				t.Errorf("summary does not add up: %+v", got.Summary)
			}
		})
	}
}

func TestObserveStates(t *testing.T) {
	f := newFixture(t)
	a := f.connect("a", 0)
	a.store(index.T1, 1)
	a.apply(index.Change{Op: index.SetConfidence, Confidence: index.Confidence{Conflicts: 4}})
	f.index.Close(a.stream, f.clock.Now())
	got := observe(t, f, cb, inferencecache.CacheBackendObservationOptions{})
	if got.Complete || got.Replicas[0].State != inferencecache.ReplicaStateSuspect {
		t.Errorf("after a lost stream: complete %t, state %s", got.Complete, got.Replicas[0].State)
	}
	if got.Replicas[0].Exact || got.Replicas[0].Conflicts != 4 {
		t.Errorf("after conflicts: exact %t, conflicts %d", got.Replicas[0].Exact, got.Replicas[0].Conflicts)
	}
}

func TestWindowGroup(t *testing.T) {
	f := newFixture(t)
	f.connect("a", 0).apply(index.Change{Op: index.DeclareGroup, Group: index.Group{
		Index: 1, Kind: index.WindowGroup, SpecKind: "sliding_window", Window: 128, BlockSize: 16,
	}})
	want := []inferencecache.KVCacheGroup{
		{Kind: "full_attention"},
		{Index: 1, Kind: "sliding_window", Window: ptr.To[int64](128)},
	}
	got := observe(t, f, cb, inferencecache.CacheBackendObservationOptions{})
	if diff := cmp.Diff(want, got.Replicas[0].Groups); diff != "" {
		t.Errorf("wrong groups (-want +got):\n%s", diff)
	}
}
