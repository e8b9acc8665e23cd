/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned/fake"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

func TestRulesOfAPolicy(t *testing.T) {
	defaults := routing.DefaultCosts()
	tests := map[string]struct {
		spec v1alpha1.CachePolicySpec
		want namespaceRules
	}{
		"nothing set": {v1alpha1.CachePolicySpec{}, namespaceRules{lookups: routing.Policy{Costs: defaults}}},
		"floors": {
			v1alpha1.CachePolicySpec{MinimumPrefixTokens: ptr.To[int32](32), MinimumMatchedTokens: ptr.To[int32](64), RoutingFloorScore: ptr.To("2.5"), LookupTimeoutMs: ptr.To[int32](20)},
			namespaceRules{lookups: routing.Policy{MinimumPrefixTokens: 32, MinimumMatchedTokens: 64, FloorScore: 2.5, HasFloor: true, Timeout: 20 * time.Millisecond, Costs: defaults}},
		},
		"floor of zero":         {v1alpha1.CachePolicySpec{RoutingFloorScore: ptr.To("0")}, namespaceRules{lookups: routing.Policy{HasFloor: true, Costs: defaults}}},
		"affinity off":          {v1alpha1.CachePolicySpec{AffinityRouting: ptr.To(v1alpha1.AffinityRoutingDisabled)}, namespaceRules{lookups: routing.Policy{NoAffinity: true, Costs: defaults}}},
		"strategy of nothing":   {v1alpha1.CachePolicySpec{Strategy: &v1alpha1.LookupStrategy{}}, namespaceRules{lookups: routing.Policy{Costs: defaults}}},
		"chains required":       {v1alpha1.CachePolicySpec{Strategy: &v1alpha1.LookupStrategy{RequireChain: ptr.To(true)}}, namespaceRules{lookups: routing.Policy{RequireChain: true, Costs: defaults}}},
		"chains ignored":        {v1alpha1.CachePolicySpec{Strategy: &v1alpha1.LookupStrategy{EnableChainMatching: ptr.To(false)}}, namespaceRules{lookups: routing.Policy{IgnoreChains: true, Costs: defaults}}},
		"no hot tenants":        {v1alpha1.CachePolicySpec{Strategy: &v1alpha1.LookupStrategy{EnableTenantHot: ptr.To(false)}}, namespaceRules{lookups: routing.Policy{NoTenantHot: true, Costs: defaults}}},
		"eviction":              {v1alpha1.CachePolicySpec{Eviction: v1alpha1.EvictionLFU, EvictionTTL: &metav1.Duration{Duration: time.Hour}}, namespaceRules{lookups: routing.Policy{Costs: defaults}, order: index.LFU, ttl: time.Hour, evicts: true}},
		"eviction as it is":     {v1alpha1.CachePolicySpec{Eviction: v1alpha1.EvictionLRU}, namespaceRules{lookups: routing.Policy{Costs: defaults}}},
		"cost model of nothing": {v1alpha1.CachePolicySpec{CostModel: &v1alpha1.CostModel{}}, namespaceRules{lookups: routing.Policy{Costs: defaults}}},
		"cost model": {
			v1alpha1.CachePolicySpec{CostModel: &v1alpha1.CostModel{
				PrefillTokensPerSecond: ptr.To[int64](1000), T2TokensPerSecond: ptr.To[int64](4000), T3TokensPerSecond: ptr.To[int64](2000),
				WaitingRequestTokens: ptr.To[int32](0), RunningRequestDelay: &metav1.Duration{Duration: 500 * time.Microsecond}, StatsMaxAge: &metav1.Duration{Duration: time.Minute},
			}},
			namespaceRules{lookups: routing.Policy{Costs: routing.Costs{Prefill: 1, T2: 0.25, T3: 0.5, Running: 0.5, StatsMaxAge: time.Minute}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, *rulesOf(&test.spec), cmp.AllowUnexported(namespaceRules{})); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// told remembers what the index was told last.
type told struct {
	mu     sync.Mutex
	limits map[string]index.TenantLimits
}

func (l *told) SetTenantLimits(tenant string, limits *index.TenantLimits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.limits, tenant)
	if limits != nil {
		l.limits[tenant] = *limits
	}
}

// state is what a tenancy says, in words.
func (l *told) state(t *tenancy, tenants ...string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := ""
	for _, tenant := range tenants {
		floor := "no policy"
		if p := t.Policy(tenant); p != nil {
			floor = fmt.Sprintf("floor %d", p.MinimumMatchedTokens)
		}
		text += fmt.Sprintf("%s in %s: %s", tenant, t.namespaceOf(tenant), floor)
		if limits, ok := l.limits[tenant]; ok {
			text += fmt.Sprintf(", %d blocks, order %d, %s", limits.MaxBlocks, limits.Order, limits.TTL)
		}
		text += "; "
	}
	return text
}

func TestTenancyFollowsTheObjects(t *testing.T) {
	ctx := t.Context()
	client := fake.NewClientset()
	factory := externalversions.NewSharedInformerFactory(client, 0)
	l := &told{limits: map[string]index.TenantLimits{}}
	tenancy, err := newTenancy(factory.Inferencecache().V1alpha1(), nil, l, func(...string) {})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	t.Cleanup(factory.Shutdown)
	await := func(what string, done func() bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) { return done(), nil }); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	await("sync", tenancy.hasSynced)

	policies := client.InferencecacheV1alpha1().CachePolicies("team-a")
	tenants := client.InferencecacheV1alpha1().CacheTenants("team-a")
	policy := &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "p"}, Spec: v1alpha1.CachePolicySpec{
		MinimumMatchedTokens: ptr.To[int32](7), Eviction: v1alpha1.EvictionLFU, EvictionTTL: &metav1.Duration{Duration: time.Hour},
	}}
	second := policy.DeepCopy()
	second.Name, second.Spec.MinimumMatchedTokens = "q", ptr.To[int32](9)
	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "t"}, Spec: v1alpha1.CacheTenantSpec{
		TenantID: "acme", Quota: &v1alpha1.CacheTenantQuota{MaxIndexEntries: ptr.To[int64](100)},
	}}
	renamed := tenant.DeepCopy()
	renamed.Spec = v1alpha1.CacheTenantSpec{TenantID: "beta"}
	steps := []struct {
		name string
		do   func() error
		want string
	}{
		{"nothing", func() error { return nil },
			"team-a in team-a: no policy; acme in acme: no policy; beta in beta: no policy; "},
		{"a tenant", func() error { _, err := tenants.Create(ctx, tenant, metav1.CreateOptions{}); return err },
			"team-a in team-a: no policy; acme in team-a: no policy, 100 blocks, order 0, 0s; beta in beta: no policy; "},
		{"a policy", func() error { _, err := policies.Create(ctx, policy, metav1.CreateOptions{}); return err },
			"team-a in team-a: floor 7, -1 blocks, order 1, 1h0m0s; acme in team-a: floor 7, 100 blocks, order 1, 1h0m0s; beta in beta: no policy; "},
		{"another identity", func() error { _, err := tenants.Update(ctx, renamed, metav1.UpdateOptions{}); return err },
			"team-a in team-a: floor 7, -1 blocks, order 1, 1h0m0s; acme in acme: no policy; beta in team-a: floor 7, -1 blocks, order 1, 1h0m0s; "},
		{"a second policy", func() error {
			_, err := policies.Create(ctx, second, metav1.CreateOptions{})
			return err
		}, "team-a in team-a: floor 7, -1 blocks, order 1, 1h0m0s; acme in acme: no policy; beta in team-a: floor 7, -1 blocks, order 1, 1h0m0s; "},
		{"the first policy gone", func() error { return policies.Delete(ctx, "p", metav1.DeleteOptions{}) },
			"team-a in team-a: floor 9, -1 blocks, order 1, 1h0m0s; acme in acme: no policy; beta in team-a: floor 9, -1 blocks, order 1, 1h0m0s; "},
		{"every policy gone", func() error { return policies.Delete(ctx, "q", metav1.DeleteOptions{}) },
			"team-a in team-a: no policy; acme in acme: no policy; beta in team-a: no policy; "},
		{"the tenant gone", func() error { return tenants.Delete(ctx, "t", metav1.DeleteOptions{}) },
			"team-a in team-a: no policy; acme in acme: no policy; beta in beta: no policy; "},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		await(step.name+": got "+l.state(tenancy, "team-a", "acme", "beta"), func() bool {
			return l.state(tenancy, "team-a", "acme", "beta") == step.want
		})
	}
}

func TestLookupsOfPoliciesDoNotAllocate(t *testing.T) {
	rules := &tenancy{}
	rules.rules.Store("team-a", rulesOf(&v1alpha1.CachePolicySpec{}))
	rules.claimed.Store("acme", &claim{namespace: "team-a"})
	if n := testing.AllocsPerRun(100, func() {
		if rules.Policy("acme") == nil || rules.Policy("nobody") != nil {
			t.Fatal("wrong policy")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
