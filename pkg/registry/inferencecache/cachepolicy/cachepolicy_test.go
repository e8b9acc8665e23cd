/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachepolicy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
)

// testPolicy returns a valid CachePolicy as it is after defaulting, changed by
// the given functions.
func testPolicy(changes ...func(*inferencecache.CachePolicy)) *inferencecache.CachePolicy {
	policy := &inferencecache.CachePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", Generation: 4, ResourceVersion: "5"},
		Spec: inferencecache.CachePolicySpec{
			Eviction:        inferencecache.EvictionLRU,
			AffinityRouting: ptr.To(inferencecache.AffinityRoutingEnabled),
		},
	}
	for _, change := range changes {
		change(policy)
	}
	return policy
}

// withStatus gives a policy a status.
func withStatus(policy *inferencecache.CachePolicy) {
	policy.Status = inferencecache.CachePolicyStatus{ObservedGeneration: 3}
}

func TestStrategyPrepares(t *testing.T) {
	main := newStrategy(runtime.NewScheme())
	status := newStatusStrategy(main)
	changed := func(p *inferencecache.CachePolicy) {
		p.Spec.Eviction = inferencecache.EvictionLFU
		p.Status.ObservedGeneration = 9
		p.Labels = map[string]string{"k": "v"}
	}
	tests := map[string]struct {
		prepare func(obj, old *inferencecache.CachePolicy)
		want    *inferencecache.CachePolicy
	}{
		"create": {
			prepare: func(obj, _ *inferencecache.CachePolicy) { main.PrepareForCreate(t.Context(), obj) },
			want: testPolicy(changed, func(p *inferencecache.CachePolicy) {
				p.Generation, p.Status = 1, inferencecache.CachePolicyStatus{}
			}),
		},
		"update": {
			prepare: func(obj, old *inferencecache.CachePolicy) { main.PrepareForUpdate(t.Context(), obj, old) },
			want:    testPolicy(changed, withStatus, func(p *inferencecache.CachePolicy) { p.Generation = 5 }),
		},
		"status update": {
			prepare: func(obj, old *inferencecache.CachePolicy) { status.PrepareForUpdate(t.Context(), obj, old) },
			want:    testPolicy(func(p *inferencecache.CachePolicy) { p.Status.ObservedGeneration = 9 }),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := testPolicy(changed)
			test.prepare(obj, testPolicy(withStatus))
			if diff := cmp.Diff(test.want, obj); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrategyValidates(t *testing.T) {
	strategy := newStrategy(runtime.NewScheme())
	broken := testPolicy(func(p *inferencecache.CachePolicy) { p.Spec.Eviction = "FIFO" })
	labelled := broken.DeepCopy()
	labelled.Labels = map[string]string{"k": "v"}
	tests := map[string]struct {
		errs    int
		refused bool
	}{
		"valid":                             {errs: len(strategy.Validate(t.Context(), testPolicy()))},
		"unknown order":                     {errs: len(strategy.Validate(t.Context(), broken)), refused: true},
		"update to an unknown order":        {errs: len(strategy.ValidateUpdate(t.Context(), broken, testPolicy())), refused: true},
		"unrelated edit of a broken object": {errs: len(strategy.ValidateUpdate(t.Context(), labelled, broken))},
		"status":                            {errs: len(newStatusStrategy(strategy).ValidateUpdate(t.Context(), testPolicy(withStatus), testPolicy()))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if refused := test.errs > 0; refused != test.refused {
				t.Errorf("refused is %t, want %t", refused, test.refused)
			}
		})
	}
}

func TestTable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	created := metav1.NewTime(now.Add(-time.Hour))
	full := testPolicy(func(p *inferencecache.CachePolicy) {
		p.Name, p.CreationTimestamp = "full", created
		p.Spec.EvictionTTL = &metav1.Duration{Duration: 30 * time.Minute}
		p.Spec.MinimumMatchedTokens = ptr.To[int32](64)
		p.Spec.RoutingFloorScore = ptr.To("0.1")
		p.Spec.LookupTimeoutMs = ptr.To[int32](20)
	})
	bare := &inferencecache.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: "bare", CreationTimestamp: created}}
	list := &inferencecache.CachePolicyList{Items: []inferencecache.CachePolicy{*full, *bare}}
	tests := map[string]struct {
		wide bool
		want string
	}{
		"narrow": {want: `
NAME   EVICTION   AGE
full   LRU        60m
bare   <none>     60m
`},
		"wide": {wide: true, want: `
NAME   EVICTION   AGE   TTL      MINMATCHED   FLOOR    TIMEOUTMS   AFFINITY
full   LRU        60m   30m0s    64           0.1      20          Enabled
bare   <none>     60m   <none>   <none>       <none>   <none>      <none>
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := tabletest.Print(t, newTable(testingclock.NewFakePassiveClock(now)), list, test.wide)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}
