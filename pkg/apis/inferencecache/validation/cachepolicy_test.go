/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func validPolicy() *inferencecache.CachePolicy {
	return &inferencecache.CachePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", ResourceVersion: "1"},
		Spec: inferencecache.CachePolicySpec{
			Eviction:        inferencecache.EvictionLRU,
			AffinityRouting: ptr.To(inferencecache.AffinityRoutingEnabled),
		},
	}
}

func TestCachePolicy(t *testing.T) {
	const scoreDetail = `: must be a decimal such as "2.5", with at most 8 digits before the point and 6 after it`
	score := func(text string) func(*inferencecache.CachePolicySpec) {
		return func(s *inferencecache.CachePolicySpec) { s.RoutingFloorScore = &text }
	}
	tests := map[string]struct {
		change func(*inferencecache.CachePolicySpec)
		want   []string
	}{
		"nothing set": {change: func(*inferencecache.CachePolicySpec) {}},
		"everything set": {change: func(s *inferencecache.CachePolicySpec) {
			*s = inferencecache.CachePolicySpec{
				Eviction: inferencecache.EvictionLFU, EvictionTTL: &metav1.Duration{Duration: time.Nanosecond},
				MinimumPrefixTokens: ptr.To[int32](0), MinimumMatchedTokens: ptr.To[int32](0), LookupTimeoutMs: ptr.To[int32](0),
				RoutingFloorScore: ptr.To("0"), AffinityRouting: ptr.To(inferencecache.AffinityRoutingDisabled),
				Strategy: &inferencecache.LookupStrategy{EnableChainMatching: ptr.To(true), RequireChain: ptr.To(true)},
				CostModel: &inferencecache.CostModel{
					PrefillTokensPerSecond: ptr.To[int64](1), T2TokensPerSecond: ptr.To[int64](1_000_000_000), T3TokensPerSecond: ptr.To[int64](1),
					WaitingRequestTokens: ptr.To[int32](1 << 20), RunningRequestDelay: &metav1.Duration{Duration: time.Minute},
					StatsMaxAge: &metav1.Duration{Duration: time.Nanosecond},
				},
			}
		}},
		"costs of nothing set": {change: func(s *inferencecache.CachePolicySpec) { s.CostModel = &inferencecache.CostModel{} }},
		"costs that are too small": {
			change: func(s *inferencecache.CachePolicySpec) {
				s.CostModel = &inferencecache.CostModel{
					PrefillTokensPerSecond: ptr.To[int64](0), T2TokensPerSecond: ptr.To[int64](-1), T3TokensPerSecond: ptr.To[int64](0),
					WaitingRequestTokens: ptr.To[int32](-1), RunningRequestDelay: &metav1.Duration{Duration: -1},
					StatsMaxAge: &metav1.Duration{},
				}
			},
			want: []string{
				`spec.costModel.prefillTokensPerSecond: Invalid value: 0: must be from 1 to 1000000000`,
				`spec.costModel.t2TokensPerSecond: Invalid value: -1: must be from 1 to 1000000000`,
				`spec.costModel.t3TokensPerSecond: Invalid value: 0: must be from 1 to 1000000000`,
				`spec.costModel.waitingRequestTokens: Invalid value: -1: must be from 0 to 1048576`,
				`spec.costModel.runningRequestDelay: Invalid value: "-1ns": must be from 0s to 1m0s`,
				`spec.costModel.statsMaxAge: Invalid value: "0s": must be greater than zero`,
			},
		},
		"costs that are too great": {
			change: func(s *inferencecache.CachePolicySpec) {
				s.CostModel = &inferencecache.CostModel{
					PrefillTokensPerSecond: ptr.To[int64](1_000_000_001), WaitingRequestTokens: ptr.To[int32](1<<20 + 1),
					RunningRequestDelay: &metav1.Duration{Duration: time.Minute + 1},
				}
			},
			want: []string{
				`spec.costModel.prefillTokensPerSecond: Invalid value: 1000000001: must be from 1 to 1000000000`,
				`spec.costModel.waitingRequestTokens: Invalid value: 1048577: must be from 0 to 1048576`,
				`spec.costModel.runningRequestDelay: Invalid value: "1m0.000000001s": must be from 0s to 1m0s`,
			},
		},
		"unknown enums": {
			change: func(s *inferencecache.CachePolicySpec) {
				s.Eviction, s.AffinityRouting = "FIFO", ptr.To[inferencecache.AffinityRouting]("")
			},
			want: []string{
				`spec.eviction: Unsupported value: "FIFO": supported values: "LRU", "LFU"`,
				`spec.affinityRouting: Required value: set it to one of "Enabled", "Disabled"`,
			},
		},
		"lifetime of zero": {
			change: func(s *inferencecache.CachePolicySpec) { s.EvictionTTL = &metav1.Duration{} },
			want:   []string{`spec.evictionTTL: Invalid value: "0s": must be greater than zero; leave it out to keep entries as long as their engine's session`},
		},
		"lifetime below zero": {
			change: func(s *inferencecache.CachePolicySpec) { s.EvictionTTL = &metav1.Duration{Duration: -time.Minute} },
			want:   []string{`spec.evictionTTL: Invalid value: "-1m0s": must be greater than zero; leave it out to keep entries as long as their engine's session`},
		},
		"floors below zero": {
			change: func(s *inferencecache.CachePolicySpec) {
				s.MinimumPrefixTokens, s.MinimumMatchedTokens, s.LookupTimeoutMs = ptr.To[int32](-1), ptr.To[int32](-1), ptr.To[int32](-1)
			},
			want: []string{
				`spec.minimumPrefixTokens: Invalid value: -1: must be at least 0`,
				`spec.minimumMatchedTokens: Invalid value: -1: must be at least 0`,
				`spec.lookupTimeoutMs: Invalid value: -1: must be at least 0`,
			},
		},
		"score with every digit":    {change: score("12345678.123456")},
		"score below one":           {change: score("0.1")},
		"score empty":               {change: score(""), want: []string{`spec.routingFloorScore: Invalid value: ""` + scoreDetail}},
		"score with a leading zero": {change: score("01"), want: []string{`spec.routingFloorScore: Invalid value: "01"` + scoreDetail}},
		"score below zero":          {change: score("-1"), want: []string{`spec.routingFloorScore: Invalid value: "-1"` + scoreDetail}},
		"score with nine digits":    {change: score("123456789"), want: []string{`spec.routingFloorScore: Invalid value: "123456789"` + scoreDetail}},
		"score with seven after":    {change: score("1.1234567"), want: []string{`spec.routingFloorScore: Invalid value: "1.1234567"` + scoreDetail}},
		"score ending in a point":   {change: score("1."), want: []string{`spec.routingFloorScore: Invalid value: "1."` + scoreDetail}},
		"score in exponents":        {change: score("1e3"), want: []string{`spec.routingFloorScore: Invalid value: "1e3"` + scoreDetail}},
		"score with a second line":  {change: score("1\n"), want: []string{`spec.routingFloorScore: Invalid value: "1\n"` + scoreDetail}},
		"chain required without a word": {change: func(s *inferencecache.CachePolicySpec) {
			s.Strategy = &inferencecache.LookupStrategy{RequireChain: ptr.To(true)}
		}},
		"chain neither wanted nor taken": {change: func(s *inferencecache.CachePolicySpec) {
			s.Strategy = &inferencecache.LookupStrategy{EnableChainMatching: ptr.To(false)}
		}},
		"chain required and not taken": {
			change: func(s *inferencecache.CachePolicySpec) {
				s.Strategy = &inferencecache.LookupStrategy{EnableChainMatching: ptr.To(false), RequireChain: ptr.To(true)}
			},
			want: []string{`spec.strategy.requireChain: Invalid value: true: needs enableChainMatching; set enableChainMatching to true or requireChain to false`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			policy := validPolicy()
			test.change(&policy.Spec)
			compare(t, test.want, ValidateCachePolicy(policy))
			compare(t, test.want, ValidateCachePolicyUpdate(policy, validPolicy()))
			compare(t, nil, ValidateCachePolicyUpdate(policy, policy.DeepCopy()))
		})
	}
}

func TestCachePolicyStatusUpdate(t *testing.T) {
	updated := validPolicy()
	updated.Spec.Eviction = "FIFO"
	updated.Status = inferencecache.CachePolicyStatus{ObservedGeneration: -1}
	compare(t, []string{`status.observedGeneration: Invalid value: -1: must be at least 0`},
		ValidateCachePolicyStatusUpdate(updated, validPolicy()))
}
