/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/index"
)

// TestGates has a prompt of 160 tokens, of which engine a holds 48 and engine b
// 96; with the default costs that saves 6 and 12 ms.
func TestGates(t *testing.T) {
	ids, chain := prompt(1, 160)
	foreign, foreignChain := prompt(5000, 160)
	hot := index.Stats{Time: start, HitTokens: new(int64(50)), QueryTokens: new(int64(100))}
	tests := map[string]struct {
		policy  Policy
		request Request
		reason  Reason
		pods    string
		// text is a part of the explanation.
		text string
	}{
		"no floor": {Policy{}, Request{Tokens: ids}, PrefixMatch, "b a", "expected time"},

		"prompt as long as the shortest":     {Policy{MinimumPrefixTokens: 96}, Request{Tokens: ids}, PrefixMatch, "b a", ""},
		"longest match below the shortest":   {Policy{MinimumPrefixTokens: 97}, Request{Tokens: ids}, AffinityHint, "", "minimumPrefixTokens"},
		"prompt below the shortest":          {Policy{MinimumPrefixTokens: 161}, Request{Tokens: ids}, AffinityHint, "", "the prompt is shorter"},
		"chain below the shortest":           {Policy{MinimumPrefixTokens: 100}, Request{Chain: chain[:3], ChainCounts: []int32{16, 16, 16}}, AffinityHint, "", "the prompt is shorter"},
		"chain of unknown length":            {Policy{MinimumPrefixTokens: 96}, Request{Chain: chain}, PrefixMatch, "b a", ""},
		"hash below the shortest":            {Policy{MinimumPrefixTokens: 100}, Request{PrefixHash: &chain[2], PrefixTokens: 48}, TenantHot, "a", "the prompt is shorter"},
		"hash of unknown length":             {Policy{MinimumPrefixTokens: 48}, Request{PrefixHash: &chain[2]}, PrefixMatch, "", ""},
		"prompt too short and affinity off":  {Policy{MinimumPrefixTokens: 161, NoAffinity: true}, Request{Tokens: ids}, NoHint, "", "affinity off"},
		"match too short and affinity off":   {Policy{MinimumPrefixTokens: 97, NoAffinity: true}, Request{Tokens: ids}, NoHint, "", "minimumPrefixTokens"},
		"too short for a model nobody knows": {Policy{MinimumPrefixTokens: 161}, Request{Tokens: ids, HashScheme: "none"}, UnknownHashScheme, "", "nobody reports"},

		"one replica matches enough": {Policy{MinimumMatchedTokens: 49}, Request{Tokens: ids}, PrefixMatch, "b", ""},
		"both match enough":          {Policy{MinimumMatchedTokens: 48}, Request{Tokens: ids}, PrefixMatch, "b a", ""},
		"none matches enough":        {Policy{MinimumMatchedTokens: 97}, Request{Tokens: ids}, AffinityHint, "", "no match is as long"},

		"score at the floor":       {Policy{FloorScore: 12, HasFloor: true}, Request{Tokens: ids}, PrefixMatch, "b a", ""},
		"score below the floor":    {Policy{FloorScore: 12.1, HasFloor: true}, Request{Tokens: ids}, AffinityHint, "", "routingFloorScore"},
		"below it and no affinity": {Policy{FloorScore: 12.1, HasFloor: true, NoAffinity: true}, Request{Tokens: ids}, NoHint, "", "routingFloorScore"},
		"a floor that is not set":  {Policy{FloorScore: 12.1}, Request{Tokens: ids}, PrefixMatch, "b a", ""},

		"chain required and given":     {Policy{RequireChain: true}, Request{Chain: chain}, PrefixMatch, "b a", ""},
		"chain required, tokens given": {Policy{RequireChain: true}, Request{Tokens: ids}, PolicyRequiresChain, "", "chains of block hashes only"},
		"chain required, hash given":   {Policy{RequireChain: true}, Request{PrefixHash: &chain[1]}, PolicyRequiresChain, "", ""},
		"chain required and malformed": {Policy{RequireChain: true}, Request{Chain: chain, Malformed: "torn"}, PolicyRequiresChain, "", ""},
		"chain required, counts of another length": {
			Policy{RequireChain: true}, Request{Chain: chain, ChainCounts: []int32{16}}, PolicyRequiresChain, "", "1 entries for 10",
		},
		"malformed": {Policy{}, Request{Chain: chain, Malformed: "torn"}, NoHint, "", "torn"},

		"chains ignored":                   {Policy{IgnoreChains: true}, Request{Chain: chain}, NoHint, "", "does not take chains"},
		"chains ignored, hash beside":      {Policy{IgnoreChains: true}, Request{Chain: foreignChain, PrefixHash: &chain[5]}, PrefixMatch, "b", ""},
		"chains ignored, whole prompt":     {Policy{IgnoreChains: true}, Request{Tokens: ids[:100]}, PrefixMatch, "b", ""},
		"chains ignored, part of a prompt": {Policy{IgnoreChains: true}, Request{Tokens: ids}, TenantHot, "a", ""},

		"hot":                     {Policy{}, Request{PrefixHash: &foreignChain[1]}, TenantHot, "a", "working cache"},
		"hot switched off":        {Policy{NoTenantHot: true}, Request{PrefixHash: &foreignChain[1]}, AffinityHint, "", ""},
		"affinity switched off":   {Policy{NoAffinity: true}, Request{Tokens: foreign}, NoHint, "", "affinity off"},
		"both switched off":       {Policy{NoTenantHot: true, NoAffinity: true}, Request{PrefixHash: &foreignChain[1]}, NoHint, "", ""},
		"hot without affinity":    {Policy{NoAffinity: true}, Request{PrefixHash: &foreignChain[1]}, TenantHot, "a", ""},
		"match although both off": {Policy{NoTenantHot: true, NoAffinity: true}, Request{Tokens: ids}, PrefixMatch, "b a", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t).engine("a").engine("b").under(test.policy).
				holds("a", index.T1, index.Announced, chain[:3]).holds("b", index.T1, index.Announced, chain[:6]).reports("a", hot)
			test.request.Explain = true
			got := f.route(test.request)
			if got.Reason != test.reason || !strings.Contains(got.Explanation, test.text) {
				t.Errorf("got %s (%s), want %s (%s)", got.Reason, got.Explanation, test.reason, test.text)
			}
			if test.pods != "" && pods(got) != test.pods {
				t.Errorf("got %q, want %q", pods(got), test.pods)
			}
			if got.Reason == AffinityHint && len(got.Replicas) != 1 {
				t.Errorf("got %q, want one replica", pods(got))
			}
			if got.Reason == NoHint && len(got.Replicas) != 0 {
				t.Errorf("got %q, want no replica", pods(got))
			}
		})
	}
}

func TestPolicyIsThatOfTheTenant(t *testing.T) {
	ids, _ := prompt(1, 160)
	f := newFleet(t).engine("a").under(Policy{RequireChain: true})
	if got := f.route(Request{Tokens: ids}); got.Reason != PolicyRequiresChain {
		t.Errorf("got %s, want the policy's answer", got.Reason)
	}
	other := &Request{Tenant: "others", Model: model, Tokens: ids}
	if got := f.router().Route(t.Context(), other); got.Reason != UnknownTenant {
		t.Errorf("got %s under the policy of somebody else", got.Reason)
	}
}

// tokenizerFunc is a Tokenizer.
type tokenizerFunc func(ctx context.Context, model, prompt string) ([]uint32, error)

func (f tokenizerFunc) Tokenize(ctx context.Context, model, prompt string) ([]uint32, error) {
	return f(ctx, model, prompt)
}

func TestText(t *testing.T) {
	ids, chain := prompt(1, 160)
	errBroken := errors.New("broken")
	answers := func(ids []uint32, err error) Tokenizer {
		return tokenizerFunc(func(_ context.Context, of, text string) ([]uint32, error) {
			if of != model || text != "words" {
				t.Errorf("asked for %q of %q", text, of)
			}
			return ids, err
		})
	}
	tests := map[string]struct {
		tokenizer Tokenizer
		request   Request
		reason    Reason
		echo      int
		text      string
	}{
		"match":           {answers(ids, nil), Request{Text: "words"}, PrefixMatch, 160, ""},
		"under a salt":    {answers(ids, nil), Request{Text: "words", Salt: "pepper"}, AffinityHint, 160, ""},
		"less than block": {answers(ids[:3], nil), Request{Text: "words"}, NoHint, 3, ""},
		"no tokens":       {answers(nil, nil), Request{Text: "words"}, NoHint, 0, ""},
		"too many tokens": {answers(make([]uint32, MaxTokens+1), nil), Request{Text: "words"}, NoHint, 0, "1048577 tokens"},
		"failure":         {answers(nil, errBroken), Request{Text: "words"}, NoHint, 0, "prompt_text: broken"},
		"timeout":         {answers(nil, context.DeadlineExceeded), Request{Text: "words"}, Timeout, 0, ""},
		"no tokenizer":    {nil, Request{Text: "words"}, NoHint, 0, "no tokenizer"},
		"too long":        {answers(ids, nil), Request{Text: strings.Repeat("w", MaxTextBytes+1)}, NoHint, 0, "1048577 bytes"},
		"tokens win":      {answers(nil, errBroken), Request{Text: "words", Tokens: ids}, PrefixMatch, 0, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain)
			f.tokenizer = test.tokenizer
			got := f.route(test.request)
			if got.Reason != test.reason || len(got.Tokens) != test.echo || !strings.Contains(got.Explanation, test.text) {
				t.Errorf("got %s with %d tokens (%s), want %s with %d (%s)", got.Reason, len(got.Tokens), got.Explanation, test.reason, test.echo, test.text)
			}
		})
	}
}

// TestDeadlineInBetween lets the deadline pass while the prompt is tokenised.
func TestDeadlineInBetween(t *testing.T) {
	ids, _ := prompt(1, 160)
	ctx, cancel := context.WithCancel(t.Context())
	f := newFleet(t).engine("a")
	f.tokenizer = tokenizerFunc(func(context.Context, string, string) ([]uint32, error) {
		cancel()
		return ids, nil
	})
	got := f.router().Route(ctx, &Request{Tenant: tenant, Model: model, Text: "words"})
	if got.Reason != Timeout || len(got.Replicas) != 0 || got.Tokens != nil {
		t.Errorf("got %+v, want nothing but TIMEOUT", got)
	}
}
