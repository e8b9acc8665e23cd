/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1_test

import (
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestFieldLabels(t *testing.T) {
	tests := map[string]struct {
		kind, label string
		refused     bool
	}{
		"name":             {kind: "CacheBackend", label: "metadata.name"},
		"namespace":        {kind: "CacheBackend", label: "metadata.namespace"},
		"type":             {kind: "CacheBackend", label: "spec.type"},
		"runtime":          {kind: "CacheBackend", label: "spec.runtime"},
		"another field":    {kind: "CacheBackend", label: "spec.replicas", refused: true},
		"policy by name":   {kind: "CachePolicy", label: "metadata.name"},
		"policy by a spec": {kind: "CachePolicy", label: "spec.eviction", refused: true},
	}
	scheme := newScheme()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			label, value, err := scheme.ConvertFieldLabel(v1alpha1.SchemeGroupVersion.WithKind(test.kind), test.label, "x")
			if test.refused {
				if err == nil || !strings.Contains(err.Error(), test.label) {
					t.Fatalf("error %v does not name the label %q", err, test.label)
				}
				return
			}
			if err != nil || label != test.label || value != "x" {
				t.Fatalf("got %q %q, error %v", label, value, err)
			}
		})
	}
}
