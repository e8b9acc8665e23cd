/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// pages reads a listing to its end and returns each item as text.
func pages(t testing.TB, f *fixture, options inferencecache.CacheBackendSnapshotOptions) []string {
	t.Helper()
	var items []string
	for range 1000 {
		page, err := SnapshotLister{f.source()}.ListSnapshot(t.Context(), cb, "uid", &options)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(page.Items)) > options.Limit {
			t.Fatalf("page of %d items, limit %d", len(page.Items), options.Limit)
		}
		for _, it := range page.Items {
			items = append(items, fmt.Sprintf("%s %d %s %v", it.Hash, it.Tokens, it.Tier, it.Replicas))
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return items
		}
	}
	t.Fatal("listing does not end")
	return nil
}

func snapshotFixture(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	f.connect("a", 0).store(index.T1, 0, 0x10, 0xffffffffffffffff)
	f.connect("b", 1).store(index.T2, 0, 0x10)
	f.connect("c", 0).store(index.T3, 0x10)
	f.connect("d", 0, func(h *index.Hello) { h.Model = "n" }).store(index.T1, 0x10)
	f.connect("e", 0, func(h *index.Hello) { h.Backend.Name = "other" }).store(index.T1, 0x99)
	return f
}

func TestListSnapshot(t *testing.T) {
	all := []string{
		"0000000000000000 16 T1 [{a 0}]",
		"0000000000000000 16 T2 [{b 1}]",
		"0000000000000010 32 T1 [{a 0}]",
		"0000000000000010 32 T2 [{b 1}]",
		"0000000000000010 32 T3 [{c 0}]",
		"ffffffffffffffff 48 T1 [{a 0}]",
		"0000000000000010 16 T1 [{d 0}]",
	}
	tests := map[string]struct {
		tier  string
		model string
		want  []string
	}{
		"all":                {want: all},
		"one tier":           {tier: "T2", want: []string{all[1], all[3]}},
		"one model":          {model: "n", want: all[6:]},
		"one tier and model": {tier: "T3", model: "m", want: all[4:5]},
		"nothing":            {model: "x"},
	}
	f := snapshotFixture(t)
	for name, tc := range tests {
		// Pages shorter than the tiers of one chain are cut inside of it. The hash
		// of zero has no hash before it, so its tiers need a page of their own.
		for _, limit := range []int64{2, 3, 4, 100} {
			t.Run(fmt.Sprintf("%s by %d", name, limit), func(t *testing.T) {
				got := pages(t, f, inferencecache.CacheBackendSnapshotOptions{Limit: limit, Tier: tc.tier, Model: tc.model})
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("wrong items (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestListSnapshotHead(t *testing.T) {
	f := snapshotFixture(t)
	got, err := SnapshotLister{f.source()}.ListSnapshot(t.Context(), cb, "uid", &inferencecache.CacheBackendSnapshotOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := inferencecache.SnapshotItem{
		Scope: inferencecache.BlockScope{Model: "m", HashScheme: "scheme", BlockSize: 16},
		Hash:  "0000000000000000", Tokens: 16, Tier: "T1", Replicas: []inferencecache.SnapshotReplica{{Pod: "a"}},
	}
	if diff := cmp.Diff([]inferencecache.SnapshotItem{want}, got.Items); diff != "" {
		t.Errorf("wrong items (-want +got):\n%s", diff)
	}
	if got.ObservedBy != "replica-a" || !got.AsOf.Time.Equal(epochStart) || !got.Complete || got.Continue == "" {
		t.Errorf("wrong head: %+v", got)
	}
}

func TestListSnapshotOfNobody(t *testing.T) {
	f := newFixture(t)
	got, err := SnapshotLister{f.source()}.ListSnapshot(t.Context(), cb, "uid", &inferencecache.CacheBackendSnapshotOptions{Limit: 10})
	if err != nil || got.Items == nil || len(got.Items) != 0 || got.Continue != "" {
		t.Errorf("items %v, continue %q, error %v; want an empty list", got.Items, got.Continue, err)
	}
}

func TestListSnapshotRefusesToken(t *testing.T) {
	_, err := SnapshotLister{snapshotFixture(t).source()}.ListSnapshot(t.Context(), cb, "uid",
		&inferencecache.CacheBackendSnapshotOptions{Limit: 10, Continue: "!"})
	if !errors.Is(err, virtual.ErrInvalidContinue) {
		t.Errorf("error %v, want %v", err, virtual.ErrInvalidContinue)
	}
}
