/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

// namespaceRules is what the CachePolicy of a namespace comes to. It is not
// changed once it is in use.
type namespaceRules struct {
	lookups routing.Policy
	// order and ttl are those of eviction; evicts is false for a policy that leaves
	// both at what the index does by itself.
	order  index.Eviction
	ttl    time.Duration
	evicts bool
}

// rulesOf reads a policy. Validation has seen it, so what cannot be read is not
// there.
func rulesOf(spec *v1alpha1.CachePolicySpec) *namespaceRules {
	rules := &namespaceRules{lookups: routing.Policy{
		MinimumPrefixTokens:  int(ptr.Deref(spec.MinimumPrefixTokens, 0)),
		MinimumMatchedTokens: int(ptr.Deref(spec.MinimumMatchedTokens, 0)),
		Timeout:              time.Duration(ptr.Deref(spec.LookupTimeoutMs, 0)) * time.Millisecond,
		NoAffinity:           ptr.Deref(spec.AffinityRouting, v1alpha1.AffinityRoutingEnabled) == v1alpha1.AffinityRoutingDisabled,
		Costs:                costsOf(spec.CostModel),
	}}
	if spec.RoutingFloorScore != nil {
		if score, err := strconv.ParseFloat(*spec.RoutingFloorScore, 64); err == nil {
			rules.lookups.FloorScore, rules.lookups.HasFloor = score, true
		}
	}
	if s := spec.Strategy; s != nil {
		rules.lookups.IgnoreChains = !ptr.Deref(s.EnableChainMatching, true)
		rules.lookups.RequireChain = ptr.Deref(s.RequireChain, false)
		rules.lookups.NoTenantHot = !ptr.Deref(s.EnableTenantHot, true)
	}
	if spec.Eviction == v1alpha1.EvictionLFU {
		rules.order, rules.evicts = index.LFU, true
	}
	if spec.EvictionTTL != nil {
		rules.ttl, rules.evicts = spec.EvictionTTL.Duration, true
	}
	return rules
}

// costsOf fills in the defaults of a cost model, which may be absent.
func costsOf(m *v1alpha1.CostModel) routing.Costs {
	costs := routing.DefaultCosts()
	if m == nil {
		return costs
	}
	rate := func(given *int64, cost *float64) {
		if given != nil {
			*cost = routing.PerToken(*given)
		}
	}
	rate(m.PrefillTokensPerSecond, &costs.Prefill)
	rate(m.T2TokensPerSecond, &costs.T2)
	rate(m.T3TokensPerSecond, &costs.T3)
	if m.WaitingRequestTokens != nil {
		costs.WaitingTokens = float64(*m.WaitingRequestTokens)
	}
	costs.Running = routing.Milliseconds(durationOf(m.RunningRequestDelay, routing.DefaultRunningDelay))
	costs.StatsMaxAge = durationOf(m.StatsMaxAge, routing.DefaultStatsMaxAge)
	return costs
}

func durationOf(given *metav1.Duration, otherwise time.Duration) time.Duration {
	if given == nil {
		return otherwise
	}
	return given.Duration
}
