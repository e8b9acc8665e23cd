/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

// prompt returns n token ids, and the hashes of their full blocks.
func prompt(n int) (ids []int64, hashes []uint64) {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = uint32(i)
		ids = append(ids, int64(i))
	}
	return ids, fingerprint.Chain(nil, fingerprint.Parent{}, tokens, 16)
}

func TestLookup(t *testing.T) {
	ids, hashes := prompt(50)
	words := make([]string, len(hashes))
	counts := make([]int64, len(hashes))
	for i, h := range hashes {
		words[i], counts[i] = fmt.Sprintf("%016x", h), 16
	}
	f := newFixture(t)
	f.connect("a", 0).store(index.T1, hashes...)
	f.connect("b", 1).store(index.T2, hashes[:1]...)
	a := inferencecache.RouteCandidate{Namespace: "ns", Pod: "a", MatchedTokens: 48, Exact: true, Tier: "T1", State: "Live", Score: "6"}
	b := inferencecache.RouteCandidate{Namespace: "ns", Pod: "b", Rank: 1, MatchedTokens: 16, Exact: true, Tier: "T2", State: "Live", Score: "1.84"}
	// A known length costs the last block of a chain, as one token is computed.
	a32 := a
	a32.MatchedTokens, a32.Score = 32, "4"
	tests := map[string]struct {
		namespace string
		spec      inferencecache.RouteLookupSpec
		reason    inferencecache.RouteReason
		tokens    int64
		want      []inferencecache.RouteCandidate
	}{
		"token ids":           {spec: inferencecache.RouteLookupSpec{TokenIDs: ids}, reason: "PREFIX_MATCH", tokens: 50, want: []inferencecache.RouteCandidate{a, b}},
		"best one":            {spec: inferencecache.RouteLookupSpec{TokenIDs: ids, TopK: ptr.To[int32](1)}, reason: "PREFIX_MATCH", tokens: 50, want: []inferencecache.RouteCandidate{a}},
		"chain":               {spec: inferencecache.RouteLookupSpec{BlockHashes: words}, reason: "PREFIX_MATCH", want: []inferencecache.RouteCandidate{a, b}},
		"chain with counts":   {spec: inferencecache.RouteLookupSpec{BlockHashes: words, BlockTokenCounts: counts}, reason: "PREFIX_MATCH", tokens: 48, want: []inferencecache.RouteCandidate{a32, b}},
		"tenant by name":      {namespace: "elsewhere", spec: inferencecache.RouteLookupSpec{TenantID: "ns", TokenIDs: ids}, reason: "PREFIX_MATCH", tokens: 50, want: []inferencecache.RouteCandidate{a, b}},
		"tenant by namespace": {namespace: "elsewhere", spec: inferencecache.RouteLookupSpec{TokenIDs: ids}, reason: "UNKNOWN_TENANT", tokens: 50},
		"unknown scheme":      {spec: inferencecache.RouteLookupSpec{TokenIDs: ids, HashScheme: "x"}, reason: "UNKNOWN_HASH_SCHEME", tokens: 50},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.spec.ModelID = "m"
			lookup := &inferencecache.RouteLookup{Spec: tc.spec}
			if tc.namespace == "" {
				tc.namespace = "ns"
			}
			if err := f.lookuper().Lookup(t.Context(), tc.namespace, lookup); err != nil {
				t.Fatal(err)
			}
			want := inferencecache.RouteLookupStatus{
				Reason: tc.reason, Tokens: tc.tokens, Replicas: tc.want,
				ObservedBy: "replica-a", AsOf: ptr.To(metav1.NewMicroTime(epochStart)), Complete: true,
			}
			reasoning := cmpopts.IgnoreFields(inferencecache.RouteCandidate{}, "Explanation")
			if diff := cmp.Diff(want, lookup.Status, reasoning); diff != "" {
				t.Errorf("wrong answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookupExplains(t *testing.T) {
	ids, hashes := prompt(50)
	f := newFixture(t)
	f.connect("a", 0).store(index.T1, hashes...)
	lookup := &inferencecache.RouteLookup{Spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: ids}}
	if err := f.lookuper().Lookup(t.Context(), "ns", lookup); err != nil {
		t.Fatal(err)
	}
	if lookup.Status.Replicas[0].Explanation == "" {
		t.Error("no explanation although a lookup by people always has one")
	}
}

func TestLookupBadHash(t *testing.T) {
	tests := map[string]inferencecache.RouteLookupSpec{
		"chain":  {BlockHashes: []string{"00"}},
		"prefix": {PrefixHash: "zz"},
	}
	f := newFixture(t)
	for name, spec := range tests {
		t.Run(name, func(t *testing.T) {
			err := f.lookuper().Lookup(t.Context(), "ns", &inferencecache.RouteLookup{Spec: spec})
			if !apierrors.IsBadRequest(err) {
				t.Errorf("error %v, want a bad request", err)
			}
		})
	}
}

func TestLookupAfterDeadline(t *testing.T) {
	ids, _ := prompt(50)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lookup := &inferencecache.RouteLookup{Spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: ids}}
	if err := newFixture(t).lookuper().Lookup(ctx, "ns", lookup); err != nil {
		t.Fatal(err)
	}
	if lookup.Status.Reason != inferencecache.RouteReasonTimeout {
		t.Errorf("reason %s, want %s", lookup.Status.Reason, inferencecache.RouteReasonTimeout)
	}
}
