/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"inferencecache.io/inference-cache/test/mutation"
)

func FuzzDecodeRecord(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, seed := range []string{
		`{"resource":"cachetenants.inferencecache.io","namespace":"ns","name":"a","uid":"u"}`,
		`{"namespace":"..","name":"a"}`, `{"namespace":"ns"}`, `{`, `null`, ``,
	} {
		corpus.Add([]byte(seed))
	}
	corpus.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRecord(b)
		if err != nil {
			return
		}
		if strings.Contains(r.Namespace+r.Name, "/") || r.Namespace == "" || r.Name == "" {
			t.Errorf("record of no object was accepted: %+v", r)
		}
		text, err := r.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeRecord([]byte(text))
		if err != nil {
			t.Fatalf("%s cannot be read back: %v", text, err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("record changed (-before +after):\n%s", diff)
		}
	})
}

func FuzzKeys(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, seed := range []string{"acme", "a/b", "..", "", "%2F", "Team A/ü", "\xff"} {
		corpus.Add(seed)
	}
	k := newKeys("/root", schema.GroupResource{Group: "example.com", Resource: "things"}, "rule")
	corpus.Fuzz(func(t *testing.T, value string) {
		holding, guard := k.holding(value), k.guard(value)
		got, err := k.value(holding)
		if err != nil || got != value {
			t.Errorf("key %q is of %q (%v), want %q", holding, got, err, value)
		}
		if strings.Contains(strings.TrimPrefix(holding, k.holdings), "/") || holding == guard {
			t.Errorf("keys of %q are %q and %q", value, holding, guard)
		}
		if _, err := k.value(guard); err == nil {
			t.Error("a guard was taken for a holding")
		}
	})
}

func TestKeys(t *testing.T) {
	k := newKeys("inference-cache", schema.GroupResource{Group: "inferencecache.io", Resource: "cachetenants"}, "tenantID")
	want := []string{
		"/inference-cache/reservations/cachetenants.inferencecache.io/tenantID/holdings/Team%20A%2F1",
		"/inference-cache/reservations/cachetenants.inferencecache.io/tenantID/guards/Team%20A%2F1",
	}
	// They are in the databases of users: other names would free every value.
	if diff := cmp.Diff(want, []string{k.holding("Team A/1"), k.guard("Team A/1")}); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
