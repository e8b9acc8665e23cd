/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/mutation"
)

func TestCascade(t *testing.T) {
	up := func(pod, uid string, restarts int32) Instance {
		return Instance{Pod: pod, UID: types.UID(uid), Restarts: restarts, Ready: true}
	}
	down := func(pod, uid string, restarts int32) Instance {
		return Instance{Pod: pod, UID: types.UID(uid), Restarts: restarts}
	}
	tests := map[string]struct {
		baseline  string
		observed  []Instance
		converged bool
		want      string
		restart   bool
	}{
		"no Pod: the baseline stands":                    {baseline: "u1:0", want: "u1:0"},
		"no ready Pod: the baseline stands":              {baseline: "u1:0", observed: []Instance{down("a", "u2", 0)}, want: "u1:0"},
		"the first ready Pod is the baseline":            {observed: []Instance{up("a", "u1", 3)}, want: "u1:3"},
		"Pods are in the order of their names":           {observed: []Instance{up("b", "u1", 0), up("a", "u2", 1)}, want: "u2:1,u1:0"},
		"nothing has changed":                            {baseline: "u1:0", observed: []Instance{up("a", "u1", 0)}, converged: true, want: "u1:0"},
		"a Pod was replaced":                             {baseline: "u1:0", observed: []Instance{up("b", "u2", 0)}, want: "u2:0", restart: true},
		"a Pod was replaced and has not gone yet":        {baseline: "u1:0", observed: []Instance{up("a", "u1", 0), up("b", "u2", 0)}, want: "u1:0"},
		"a container was restarted in its Pod":           {baseline: "u1:0", observed: []Instance{up("a", "u1", 1)}, want: "u1:1", restart: true},
		"one of two was replaced":                        {baseline: "u1:0,u2:0", observed: []Instance{up("a", "u1", 0), up("c", "u3", 0)}, want: "u1:0,u3:0", restart: true},
		"scaled up and converged: wider, no restart":     {baseline: "u1:0", observed: []Instance{up("a", "u1", 0), up("b", "u2", 0)}, converged: true, want: "u1:0,u2:0"},
		"a rollout that was taken back":                  {baseline: "u1:0", observed: []Instance{up("a", "u1", 0)}, want: "u1:0"},
		"scaled down":                                    {baseline: "u1:0,u2:0", observed: []Instance{up("a", "u1", 0)}, converged: true, want: "u1:0", restart: true},
		"a Pod is not ready for a moment":                {baseline: "u1:0,u2:0", observed: []Instance{up("a", "u1", 0), down("b", "u2", 0)}, want: "u1:0,u2:0"},
		"a Pod restarts and is not ready yet":            {baseline: "u1:0,u2:0", observed: []Instance{up("a", "u1", 0), down("b", "u2", 1)}, want: "u1:0,u2:0"},
		"a Pod restarted and is ready":                   {baseline: "u1:0,u2:0", observed: []Instance{up("a", "u1", 0), up("b", "u2", 1)}, want: "u1:0,u2:1", restart: true},
		"one is replaced while another is not ready":     {baseline: "u1:0,u2:0", observed: []Instance{up("c", "u3", 0), down("b", "u2", 0)}, want: "u2:0,u3:0", restart: true},
		"a baseline that cannot be read restarts once":   {baseline: "u1:many", observed: []Instance{up("a", "u1", 0)}, want: "u1:0", restart: true},
		"a baseline of nothing readable is no baseline":  {baseline: ",", observed: []Instance{up("a", "u1", 0)}, want: "u1:0"},
		"after a time without Pods the new one restarts": {baseline: "u1:0", observed: []Instance{up("b", "u9", 0)}, converged: true, want: "u9:0", restart: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, restart := Cascade(tc.baseline, tc.observed, tc.converged)
			if got != tc.want || restart != tc.restart {
				t.Errorf("Cascade returned %q, %t; want %q, %t", got, restart, tc.want, tc.restart)
			}
		})
	}
}

// TestCascadeSettles checks that one change restarts the engines at most once.
func TestCascadeSettles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	baseline := ""
	for range 2000 {
		var observed []Instance
		for i := range random.IntN(4) {
			observed = append(observed, Instance{
				Pod: fmt.Sprintf("pod-%d", i), UID: types.UID(fmt.Sprintf("u%d", random.IntN(4)*4+i)),
				Restarts: random.Int32N(2), Ready: random.IntN(3) > 0,
			})
		}
		converged := random.IntN(2) == 0
		next, _ := Cascade(baseline, observed, converged)
		again, restart := Cascade(next, observed, converged)
		if again != next || restart {
			t.Fatalf("from %q, %v gave %q and then %q, %t", baseline, observed, next, again, restart)
		}
		baseline = next
	}
}

// FuzzCascade holds that any text for a baseline, which whoever may write a status may
// write, gives way to what is observed.
func FuzzCascade(f *testing.F) {
	corpus := mutation.New(f, 2000)
	corpus.Add("u1:0", "u1", int32(1))
	corpus.Add("u1:0,u2:4294967296,:,x", "", int32(-1))
	corpus.Fuzz(func(t *testing.T, baseline, uid string, restarts int32) {
		observed := []Instance{{Pod: "a", UID: types.UID(uid), Restarts: restarts, Ready: true}}
		next, _ := Cascade(baseline, observed, true)
		if want := fmt.Sprintf("%s:%d", uid, restarts); next != want {
			t.Errorf("the baseline is %q, want %q", next, want)
		}
	})
}

func TestInstanceOf(t *testing.T) {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "redis-l2"}}}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "shared-0", UID: "u1"},
		Status: corev1.PodStatus{
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "redis-l2", RestartCount: 2}, {Name: "istio-proxy", RestartCount: 40}},
		},
	}
	want := Instance{Pod: "shared-0", UID: "u1", Restarts: 2, Ready: true}
	if got, ok := InstanceOf(pod, template); !ok || got != want {
		t.Errorf("InstanceOf returned %v, %t; want %v", got, ok, want)
	}
	pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	if got, ok := InstanceOf(pod, template); ok {
		t.Errorf("a Pod that is being deleted is %v", got)
	}
}

func TestEnginesReconnect(t *testing.T) {
	for provider, want := range map[v1alpha1.StorageProvider]bool{
		v1alpha1.StorageProviderRedis:         false,
		v1alpha1.StorageProviderLMCacheServer: false,
		v1alpha1.StorageProviderMooncake:      true,
	} {
		backend := managed().Backend
		backend.Spec.RemoteStorage.Provider = provider
		if got := EnginesReconnect(backend); got != want {
			t.Errorf("engines of %s reconnect: %t, want %t", provider, got, want)
		}
	}
	if !EnginesReconnect(hostOnly().Backend) {
		t.Error("engines without a store have nothing to lose")
	}
}
