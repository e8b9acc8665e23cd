/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
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
	a := inferencecache.RouteCandidate{Namespace: "ns", Pod: "a", MatchedTokens: 48, Exact: true, Tier: "T1", State: "Live", Sequence: 2, ExpectedTTFTMilliseconds: "0.25", Score: "6"}
	b := inferencecache.RouteCandidate{Namespace: "ns", Pod: "b", Rank: 1, MatchedTokens: 16, T2Tokens: 16, Exact: true, Tier: "T2", State: "Live", Sequence: 2, ExpectedTTFTMilliseconds: "4.41", Score: "1.84"}
	// Nothing is computed behind the blocks of a chain.
	aChain, bChain := a, b
	aChain.ExpectedTTFTMilliseconds, bChain.ExpectedTTFTMilliseconds = "0", "4.16"
	// A known length costs the last block of a chain, as one token is computed.
	a32 := a
	a32.MatchedTokens, a32.ExpectedTTFTMilliseconds, a32.Score = 32, "2", "4"
	tests := map[string]struct {
		namespace string
		spec      inferencecache.RouteLookupSpec
		reason    inferencecache.RouteReason
		tokens    int64
		want      []inferencecache.RouteCandidate
	}{
		"token ids":           {spec: inferencecache.RouteLookupSpec{TokenIDs: ids}, reason: "PREFIX_MATCH", tokens: 50, want: []inferencecache.RouteCandidate{a, b}},
		"best one":            {spec: inferencecache.RouteLookupSpec{TokenIDs: ids, TopK: ptr.To[int32](1)}, reason: "PREFIX_MATCH", tokens: 50, want: []inferencecache.RouteCandidate{a}},
		"chain":               {spec: inferencecache.RouteLookupSpec{BlockHashes: words}, reason: "PREFIX_MATCH", want: []inferencecache.RouteCandidate{aChain, bChain}},
		"chain with counts":   {spec: inferencecache.RouteLookupSpec{BlockHashes: words, BlockTokenCounts: counts}, reason: "PREFIX_MATCH", tokens: 48, want: []inferencecache.RouteCandidate{a32, bChain}},
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
			answers := cmpopts.IgnoreFields(inferencecache.RouteLookupStatus{}, "Explanation")
			if diff := cmp.Diff(want, lookup.Status, reasoning, answers); diff != "" {
				t.Errorf("wrong answer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLookupOfOthersTenants asks about tenants from namespaces that do not have them.
func TestLookupOfOthersTenants(t *testing.T) {
	ids, _ := prompt(16)
	tests := map[string]struct{ namespace, tenant, want string }{
		"the namespace itself":     {namespace: "ns"},
		"by its name":              {namespace: "ns", tenant: "ns"},
		"a tenant of it":           {namespace: "ns", tenant: "acme"},
		"another namespace":        {namespace: "ns", tenant: "other", want: "spec.tenantID: tenant other does not belong to namespace ns"},
		"a tenant of another":      {namespace: "other", tenant: "acme", want: "spec.tenantID: tenant acme does not belong to namespace other"},
		"a tenant that is not":     {namespace: "ns", tenant: "nobody", want: "spec.tenantID: tenant nobody does not belong to namespace ns"},
		"a namespace without name": {namespace: "acme", want: "spec.tenantID: tenant acme does not belong to namespace acme"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := newFixture(t).lookuper()
			l.NamespaceOf = func(tenant string) string {
				if tenant == "acme" {
					return "ns"
				}
				return tenant
			}
			lookup := &inferencecache.RouteLookup{Spec: inferencecache.RouteLookupSpec{ModelID: "m", TenantID: tc.tenant, TokenIDs: ids}}
			err := l.Lookup(t.Context(), tc.namespace, lookup)
			if (err == nil) != (tc.want == "") || err != nil && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && lookup.Status.Reason != "" {
				t.Errorf("a refused lookup was answered %s", lookup.Status.Reason)
			}
		})
	}
}

// onePolicy is the policy of every tenant.
type onePolicy struct{ policy *routing.Policy }

func (p onePolicy) Policy(string) *routing.Policy { return p.policy }

// Nobody asked for an explanation; people get it all the same, as the answer's and
// as every replica's.
func TestLookupExplains(t *testing.T) {
	ids, hashes := prompt(50)
	other, _ := prompt(16)
	other[0] = 1000
	strict := routing.Unrestricted()
	strict.MinimumMatchedTokens, strict.NoAffinity = 64, true
	tests := map[string]struct {
		spec   inferencecache.RouteLookupSpec
		policy *routing.Policy
		reason inferencecache.RouteReason
		want   string
	}{
		"match": {
			spec:   inferencecache.RouteLookupSpec{TokenIDs: ids},
			reason: "PREFIX_MATCH",
			want:   "ordered by the expected time to the first token; replicas that may reuse something: 1",
		},
		"no match": {
			spec:   inferencecache.RouteLookupSpec{TokenIDs: other},
			reason: "AFFINITY_HINT",
			want:   "nobody certainly holds the prompt; the replica follows from the prompt's head",
		},
		"below a floor": {
			spec:   inferencecache.RouteLookupSpec{BlockHashes: []string{fmt.Sprintf("%016x", hashes[0])}},
			policy: strict,
			reason: "NO_HINT",
			want:   "no match is as long as the policy asks for, and the policy switches affinity off",
		},
		"another scheme": {
			spec:   inferencecache.RouteLookupSpec{TokenIDs: ids, HashScheme: "x"},
			reason: "UNKNOWN_HASH_SCHEME",
			want:   "nobody reports for this scope",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.connect("a", 0).store(index.T1, hashes...)
			tc.spec.ModelID = "m"
			lookup := &inferencecache.RouteLookup{Spec: tc.spec}
			lookuper := f.lookuper()
			lookuper.Router = router{routing.New(routing.Config{Index: f.index, Policies: onePolicy{tc.policy}})}
			if err := lookuper.Lookup(t.Context(), "ns", lookup); err != nil {
				t.Fatal(err)
			}
			if lookup.Status.Reason != tc.reason || lookup.Status.Explanation != tc.want {
				t.Errorf("%s because %q, want %s because %q", lookup.Status.Reason, lookup.Status.Explanation, tc.reason, tc.want)
			}
			for _, replica := range lookup.Status.Replicas {
				if replica.Explanation == "" {
					t.Errorf("no explanation of %s", replica.Pod)
				}
			}
		})
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
