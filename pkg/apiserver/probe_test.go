/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
)

// goodProbe is what a server without a fault answers, but for what differs every time.
var goodProbe = []v1alpha1.ProbeStage{
	{Name: v1alpha1.ProbeStageIngest, Result: v1alpha1.ProbeResultOK},
	{Name: v1alpha1.ProbeStageRouting, Result: v1alpha1.ProbeResultOK},
}

// stagesOf returns the stages of a probe without their times.
func stagesOf(probe *v1alpha1.CacheBackendProbe) []v1alpha1.ProbeStage {
	stages := append([]v1alpha1.ProbeStage(nil), probe.Status.Stages...)
	for i := range stages {
		stages[i].DurationMs = 0
	}
	return stages
}

func TestProbe(t *testing.T) {
	s := apiservertest.Start(t)
	c := clientset(t, s.Config)
	created := create(t, c, "a")
	backends := c.InferencecacheV1alpha1().CacheBackends("default")
	tests := map[string]struct {
		name    string
		probe   v1alpha1.CacheBackendProbe
		options metav1.CreateOptions
		refused func(error) bool
	}{
		"plain":           {name: "a"},
		"precondition":    {name: "a", probe: v1alpha1.CacheBackendProbe{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: created.UID}}},
		"dry-run":         {name: "a", options: metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}},
		"strict":          {name: "a", options: metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, FieldManager: "somebody"}},
		"unknown backend": {name: "b", refused: apierrors.IsNotFound},
		"other namespace": {name: "a", probe: v1alpha1.CacheBackendProbe{ObjectMeta: metav1.ObjectMeta{Namespace: "other"}}, refused: apierrors.IsBadRequest},
		"another one":     {name: "a", probe: v1alpha1.CacheBackendProbe{ObjectMeta: metav1.ObjectMeta{UID: "older"}}, refused: apierrors.IsConflict},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := backends.Probe(t.Context(), test.name, &test.probe, test.options)
			if test.refused != nil {
				if !test.refused(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := metav1.ObjectMeta{Name: "a", Namespace: "default", UID: created.UID}
			if diff := cmp.Diff(want, got.ObjectMeta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(goodProbe, stagesOf(got)); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			if got.Status.ObservedBy == "" || got.Status.AsOf.IsZero() {
				t.Errorf("status %+v does not say by whom and when", got.Status)
			}
		})
	}
}

// TestProbesAtATime sends more probes than are taken at a time. Those beyond get a 429,
// after whose Retry-After clients come back by themselves.
func TestProbesAtATime(t *testing.T) {
	s := apiservertest.Start(t)
	c := clientset(t, s.Config)
	create(t, c, "a")
	group := c.InferencecacheV1alpha1()
	const probes = 64
	errs := make(chan error, probes)
	for range probes {
		go func() {
			probe, err := group.CacheBackends("default").Probe(t.Context(), "a", &v1alpha1.CacheBackendProbe{}, metav1.CreateOptions{})
			if diff := cmp.Diff(goodProbe, stagesOf(probe)); err == nil && diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			errs <- err
		}()
	}
	for range probes {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	index, err := group.CacheIndices().Get(t.Context(), "cluster-default", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if index.Status.Prefixes.Summary.Total != 0 || len(index.Status.Replicas) != 0 || len(index.Status.Tenants) != 0 {
		t.Errorf("probes show in the index: %+v", index.Status)
	}
}
