/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestStripIndex keeps what the controllers of backends and of tenants read.
func TestStripIndex(t *testing.T) {
	want := index()
	want.Status.Tenants = []v1alpha1.CacheIndexTenant{{ID: "acme"}}
	whole := want.DeepCopy()
	whole.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "server"}}
	whole.Status.Replicas = []v1alpha1.CacheIndexReplica{{Namespace: "team-a", Pod: "engine"}}
	got, err := stripIndex(whole)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
}
