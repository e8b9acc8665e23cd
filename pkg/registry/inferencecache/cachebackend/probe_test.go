/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// probed is what fakeProber finds.
var probed = inferencecache.CacheBackendProbeStatus{ObservedBy: "server-0", Complete: true, Stages: []inferencecache.ProbeStage{
	{Name: inferencecache.ProbeStageIngest, Result: inferencecache.ProbeResultFailed, Message: "report a block: Unavailable", DurationMs: 3},
	{Name: inferencecache.ProbeStageRouting, Result: inferencecache.ProbeResultSkipped},
}}

// fakeProber keeps the question.
type fakeProber struct {
	err   error
	asked []types.NamespacedName
}

func (f *fakeProber) Probe(_ context.Context, backend types.NamespacedName) (inferencecache.CacheBackendProbeStatus, error) {
	f.asked = append(f.asked, backend)
	return probed, f.err
}

func TestProbeCreate(t *testing.T) {
	meta := func(change func(*metav1.ObjectMeta)) *inferencecache.CacheBackendProbe {
		probe := &inferencecache.CacheBackendProbe{}
		change(&probe.ObjectMeta)
		return probe
	}
	tests := map[string]struct {
		name    string
		body    runtime.Object
		options *metav1.CreateOptions
		err     error
		// refuse is what admission says.
		refuse  error
		refused func(error) bool
		// unasked says that nothing may have been probed.
		unasked bool
	}{
		"nothing in it": {name: "a", body: &inferencecache.CacheBackendProbe{}},
		"name and UID":  {name: "a", body: meta(func(m *metav1.ObjectMeta) { m.Name, m.UID = "a", "uid" })},
		"what is not asked for": {name: "a", body: &inferencecache.CacheBackendProbe{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, GenerateName: "x", Finalizers: []string{"x/y"}},
			Status:     inferencecache.CacheBackendProbeStatus{ObservedBy: "a client", Stages: []inferencecache.ProbeStage{{Name: "ingest", Result: "ok"}}},
		}},
		"dry-run":          {name: "a", body: &inferencecache.CacheBackendProbe{}, options: &metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}},
		"other name":       {name: "a", body: meta(func(m *metav1.ObjectMeta) { m.Name = "b" }), refused: apierrors.IsBadRequest, unasked: true},
		"other UID":        {name: "a", body: meta(func(m *metav1.ObjectMeta) { m.UID = "older" }), refused: apierrors.IsConflict, unasked: true},
		"no parent":        {name: "b", body: &inferencecache.CacheBackendProbe{}, refused: apierrors.IsNotFound, unasked: true},
		"another kind":     {name: "a", body: &inferencecache.CacheBackend{}, refused: apierrors.IsBadRequest, unasked: true},
		"admission":        {name: "a", body: &inferencecache.CacheBackendProbe{}, refuse: apierrors.NewForbidden(inferencecache.Resource("cachebackends"), "a", errors.New("no")), refused: apierrors.IsForbidden, unasked: true},
		"too many probes":  {name: "a", body: &inferencecache.CacheBackendProbe{}, err: apierrors.NewTooManyRequests("busy", 1), refused: apierrors.IsTooManyRequests},
		"live data failed": {name: "a", body: &inferencecache.CacheBackendProbe{}, err: errors.New("broken"), refused: apierrors.IsInternalError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			prober := &fakeProber{err: test.err}
			rest := &ProbeREST{parent: virtual.NewParent(fakeStore{}), prober: prober}
			obj, err := rest.Create(t.Context(), test.name, test.body, func(context.Context, runtime.Object) error { return test.refuse }, test.options)
			if test.unasked && len(prober.asked) > 0 {
				t.Error("the server was probed")
			}
			if test.refused != nil {
				if !test.refused(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := &inferencecache.CacheBackendProbe{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "uid"}, Status: probed}
			if diff := cmp.Diff(runtime.Object(want), obj); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]types.NamespacedName{{Namespace: "ns", Name: "a"}}, prober.asked); diff != "" {
				t.Errorf("probed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbeTable(t *testing.T) {
	want := `
STAGE     RESULT    MILLISECONDS   MESSAGE
ingest    failed    3              report a block: Unavailable
routing   skipped   0              <none>
`
	convertor := newProbeTable(testingclock.NewFakePassiveClock(now))
	if diff := cmp.Diff(want, tabletest.Print(t, convertor, &inferencecache.CacheBackendProbe{Status: probed}, false)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
