/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores_test

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// BenchmarkRender renders a store and turns it into what is applied, as each
// reconciliation does.
func BenchmarkRender(b *testing.B) {
	store, _ := stores.Of(v1alpha1.StorageProviderRedis)
	input := workload.Input{Backend: managed(v1alpha1.StorageProviderRedis), Password: "p", ManagerNamespace: "m"}
	b.ReportAllocs()
	for b.Loop() {
		objects, err := store.Render(input)
		if err != nil {
			b.Fatal(err)
		}
		for _, object := range objects.List() {
			if _, err := workload.Fields(object); err != nil {
				b.Fatal(err)
			}
		}
	}
}
