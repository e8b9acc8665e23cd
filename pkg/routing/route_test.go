/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"math"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

func TestReasons(t *testing.T) {
	ids, chain := prompt(1, 80)
	foreign, foreignChain := prompt(1000, 80)
	hot := index.Stats{Time: start, HitTokens: new(int64(50)), QueryTokens: new(int64(100))}
	cold := index.Stats{Time: start, HitTokens: new(int64(1)), QueryTokens: new(int64(100))}
	one := func(t *testing.T) *fleet { return newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain) }
	tests := map[string]struct {
		fleet   func(*testing.T) *fleet
		request Request
		reason  Reason
		pods    string
	}{
		"match by tokens":             {one, Request{Tokens: ids}, PrefixMatch, "a"},
		"match by chain":              {one, Request{Chain: chain}, PrefixMatch, "a"},
		"match by hash":               {one, Request{PrefixHash: &chain[1]}, PrefixMatch, "a"},
		"empty index":                 {func(t *testing.T) *fleet { return newFleet(t) }, Request{Tokens: ids}, NoHint, ""},
		"no input":                    {one, Request{}, NoHint, ""},
		"shorter than a block":        {one, Request{Tokens: ids[:5]}, NoHint, ""},
		"unknown scheme":              {one, Request{Tokens: ids, HashScheme: "sglang"}, UnknownHashScheme, ""},
		"miss":                        {one, Request{Tokens: foreign}, AffinityHint, "a"},
		"miss by chain":               {one, Request{Chain: foreignChain}, AffinityHint, "a"},
		"miss under an adapter":       {one, Request{Tokens: ids, Adapter: "sql"}, AffinityHint, "a"},
		"miss under a salt":           {one, Request{Tokens: ids, Salt: "pepper"}, AffinityHint, "a"},
		"miss by hash, cold cache":    {func(t *testing.T) *fleet { return one(t).reports("a", cold) }, Request{PrefixHash: &foreignChain[0]}, AffinityHint, "a"},
		"miss by hash, hot cache":     {func(t *testing.T) *fleet { return one(t).reports("a", hot) }, Request{PrefixHash: &foreignChain[0]}, TenantHot, "a"},
		"miss by chain, hot cache":    {func(t *testing.T) *fleet { return one(t).reports("a", hot) }, Request{Chain: foreignChain}, AffinityHint, "a"},
		"miss, everybody lost":        {func(t *testing.T) *fleet { return one(t).loses("a") }, Request{Tokens: foreign}, AffinityHint, "a"},
		"match on a lost engine":      {func(t *testing.T) *fleet { return one(t).loses("a") }, Request{Tokens: ids}, PrefixMatch, "a"},
		"counts of another length":    {one, Request{Chain: chain, ChainCounts: []int32{16}}, NoHint, ""},
		"count of 0":                  {one, Request{Chain: chain[:1], ChainCounts: []int32{0}}, NoHint, ""},
		"hash whose start nobody has": {one, Request{PrefixHash: &foreignChain[2]}, AffinityHint, "a"},
		"blocks that are only possible": {func(t *testing.T) *fleet { return newFleet(t).engine("a").holds("a", index.T1, index.Possible, chain) },
			Request{Tokens: ids}, AffinityHint, "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.request.Explain = true
			got := test.fleet(t).route(test.request)
			if got.Reason != test.reason || pods(got) != test.pods {
				t.Errorf("got %s for %q, want %s for %q", got.Reason, pods(got), test.reason, test.pods)
			}
			if got.Explanation == "" {
				t.Error("no explanation")
			}
			for _, r := range got.Replicas {
				if r.Explanation == "" {
					t.Errorf("no explanation for %s", r.Holder.Pod)
				}
				if got.Reason == AffinityHint && (r.Score != 0 || r.HitProbability != 0 || r.Tokens != 0) {
					t.Errorf("a hint claims a match: %+v", r)
				}
			}
		})
	}
}

func TestScopesThatNobodyServes(t *testing.T) {
	ids, chain := prompt(1, 80)
	f := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain)
	for name, test := range map[string]struct {
		request Request
		want    Reason
	}{
		"tenant": {Request{Tenant: "nobody", Model: model, Tokens: ids}, UnknownTenant},
		"model":  {Request{Tenant: tenant, Model: "none", Tokens: ids}, UnknownModel},
	} {
		t.Run(name, func(t *testing.T) {
			if got := f.router().Route(t.Context(), &test.request); got.Reason != test.want || got.Explanation != "" {
				t.Errorf("got %s (%q), want %s and no explanation", got.Reason, got.Explanation, test.want)
			}
		})
	}
}

func TestPassedDeadline(t *testing.T) {
	ids, _ := prompt(1, 80)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := newFleet(t).router().Route(ctx, &Request{Tenant: tenant, Model: model, Tokens: ids}); got.Reason != Timeout {
		t.Errorf("got %s, want %s", got.Reason, Timeout)
	}
}

func TestMatchedTokens(t *testing.T) {
	ids, chain := prompt(1, 80)
	f := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain[:4])
	key := fingerprint.TextKey("img")
	tests := map[string]struct {
		request Request
		tokens  int
		prompt  int
	}{
		"prompt longer than what is held":    {Request{Tokens: ids}, 64, 80},
		"prompt that ends with what is held": {Request{Tokens: ids[:64]}, 48, 64},
		"prompt that ends inside a block":    {Request{Tokens: ids[:65]}, 64, 65},
		"chain of unknown length":            {Request{Chain: chain}, 64, 0},
		"chain of known length":              {Request{Chain: chain[:4], PromptTokens: 64}, 48, 64},
		"chain with the caller's counts":     {Request{Chain: chain, ChainCounts: []int32{16, 16, 16, 8, 8}}, 56, 0},
		"hash in the middle":                 {Request{PrefixHash: &chain[2]}, 48, 0},
		"keys end the match at their block":  {Request{Tokens: ids, BlockKeys: map[int][]fingerprint.Key{1: {key}}}, 16, 80},
		"keys behind what is held":           {Request{Tokens: ids, BlockKeys: map[int][]fingerprint.Key{4: {key}}}, 64, 80},
		"chain wins over hash and tokens":    {Request{Chain: chain[:1], PrefixHash: &chain[3], Tokens: ids}, 16, 0},
		"hash wins over tokens":              {Request{PrefixHash: &chain[1], Tokens: ids}, 32, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := f.route(test.request)
			if got.Reason != PrefixMatch || got.Replicas[0].Tokens != test.tokens || got.PromptTokens != test.prompt {
				t.Errorf("got %s, %d of %d tokens, want %d of %d", got.Reason, got.Replicas[0].Tokens, got.PromptTokens, test.tokens, test.prompt)
			}
			if want := float64(test.tokens) * DefaultCosts().Prefill; math.Abs(got.Replicas[0].Score-want) > 1e-9 {
				t.Errorf("got score %v, want %v: what the tokens take to compute", got.Replicas[0].Score, want)
			}
		})
	}
}

func TestSeveralSchemesAndBlockSizes(t *testing.T) {
	ids, chain := prompt(1, 160)
	f := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain[:2])
	f.open("b", "sglang")
	f.apply("b",
		index.Change{Op: index.DeclareScope, Scope: index.Scope{BlockSize: 64}},
		index.Change{Op: index.DeclareGroup, Group: index.Group{Kind: index.FullGroup, BlockSize: 64}})
	f.holds("b", index.T1, index.Announced, fingerprint.Chain(nil, fingerprint.Parent{}, ids, 64))
	if got := f.route(Request{Tokens: ids}); pods(got) != "b a" || got.Replicas[0].Tokens != 128 || got.Replicas[1].Tokens != 32 {
		t.Errorf("all schemes: got %+v", got.Replicas)
	}
	if got := f.route(Request{Tokens: ids, HashScheme: scheme}); pods(got) != "a" {
		t.Errorf("one scheme: got %q, want a", pods(got))
	}
}

func TestLimits(t *testing.T) {
	f := newFleet(t).engine("a")
	for name, test := range map[string]struct {
		request Request
		text    string
	}{
		"tokens": {Request{Tokens: make([]uint32, MaxTokens+1)}, "1048577 tokens"},
		"blocks": {Request{Chain: make([]uint64, MaxBlocks+1)}, "1048577 blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := f.route(test.request); got.Reason != NoHint || !strings.Contains(got.Explanation, test.text) {
				t.Errorf("got %s (%s), want %s naming %s", got.Reason, got.Explanation, NoHint, test.text)
			}
		})
	}
}
