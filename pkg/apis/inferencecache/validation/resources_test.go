/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/test/mutation"
)

// FuzzResources holds that no name and no quantity makes validation panic: both
// are the client's, and the size of a page is a divisor.
func FuzzResources(f *testing.F) {
	corpus := mutation.New(f, 5000)
	seeds := map[string]string{
		"cpu": "250m", "memory": "-1Gi", "hugepages-2Mi": "3Mi", "hugepages-0": "1", "hugepages-1e30": "1", "hugepages-9E": "1e30",
		"hugepages-1m": "1", "hugepages-1e-99999999": "1", "hugepages-": "1", "example.com/a": "9223372036854775807", "": "1", "requests.a/b": "1",
	}
	// In one order, so that each run makes the same mutations.
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		corpus.Add(name, seeds[name])
	}
	corpus.Fuzz(func(_ *testing.T, name, text string) {
		// Amounts are parsed where objects are decoded, before anything of ours sees them.
		if outsized(text) {
			return
		}
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return
		}
		list := corev1.ResourceList{corev1.ResourceName(name): quantity}
		validateResources(&corev1.ResourceRequirements{Limits: list, Requests: list}, field.NewPath("resources"))
		validateResources(&corev1.ResourceRequirements{Requests: list}, field.NewPath("resources"))
	})
}
