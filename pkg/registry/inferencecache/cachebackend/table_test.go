/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// before returns the time that long ago.
func before(age time.Duration) *metav1.Time {
	return ptr.To(metav1.NewTime(now.Add(-age)))
}

// printed is a list with a backend in full and one that nobody has looked at.
func printed() *inferencecache.CacheBackendList {
	full := testBackend(func(b *inferencecache.CacheBackend) {
		b.Name, b.CreationTimestamp = "full", *before(time.Hour)
		b.Status = inferencecache.CacheBackendStatus{
			Endpoint:           "full.ns.svc.cluster.local:65432",
			MatchedEnginePods:  ptr.To[int32](3),
			IndexParticipation: &inferencecache.IndexParticipation{PrefixCount: 1200, LastEventAt: before(5 * time.Second)},
			Conditions: []metav1.Condition{
				{Type: "Ready", Status: metav1.ConditionTrue, Reason: "KVEventsObserved"},
				{Type: "Degraded", Status: metav1.ConditionFalse, Reason: "NotDegraded"},
			},
		}
	})
	quiet := testBackend(func(b *inferencecache.CacheBackend) {
		b.Name, b.CreationTimestamp = "quiet", *before(26 * time.Hour)
		b.Status.MatchedEnginePods = ptr.To[int32](0)
		b.Status.IndexParticipation = &inferencecache.IndexParticipation{}
	})
	bare := &inferencecache.CacheBackend{ObjectMeta: metav1.ObjectMeta{Name: "bare", CreationTimestamp: *before(time.Second)}}
	return &inferencecache.CacheBackendList{Items: []inferencecache.CacheBackend{*full, *quiet, *bare}}
}

func TestTable(t *testing.T) {
	tests := map[string]struct {
		obj  runtime.Object
		wide bool
		want string
	}{
		"narrow": {obj: printed(), want: `
NAME    TYPE      READY    MATCHED   ENDPOINT                          PREFIXES   LASTEVENT   AGE
full    LMCache   True     3         full.ns.svc.cluster.local:65432   1200       5s          60m
quiet   LMCache   <none>   0         <none>                            0          <none>      26h
bare    <none>    <none>   <none>    <none>                            <none>     <none>      1s
`},
		"wide": {obj: printed(), wide: true, want: `
NAME    TYPE      READY    MATCHED   ENDPOINT                          PREFIXES   LASTEVENT   AGE   RUNTIME   MODE      PROVIDER        OWNERSHIP   REPLICAS   REASON             DEGRADED
full    LMCache   True     3         full.ns.svc.cluster.local:65432   1200       5s          60m   VLLM      Offload   LMCacheServer   Managed     2          KVEventsObserved   NotDegraded
quiet   LMCache   <none>   0         <none>                            0          <none>      26h   VLLM      Offload   LMCacheServer   Managed     2          <none>             <none>
bare    <none>    <none>   <none>    <none>                            <none>     <none>      1s    <none>    <none>    <none>          <none>      <none>     <none>             <none>
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := tabletest.Print(t, newTable(testingclock.NewFakePassiveClock(now)), test.obj, test.wide)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScaleTable(t *testing.T) {
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: *before(time.Hour)},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 3},
		Status:     autoscalingv1.ScaleStatus{Replicas: 2},
	}
	want := `
NAME   DESIRED   AVAILABLE   AGE
a      3         2           60m
`
	got := tabletest.Print(t, newScaleTable(testingclock.NewFakePassiveClock(now)), scale, false)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
