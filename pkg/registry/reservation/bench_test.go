/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"testing"

	"k8s.io/apiserver/pkg/storage"
)

// BenchmarkLife creates and deletes an object, without and with a unique value.
func BenchmarkLife(b *testing.B) {
	f := newFixture(b)
	for name, s := range map[string]storage.Interface{"plain": f.objects, "unique": f.first} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.must(f.create(s, "a", "x"))
				f.must(f.remove(s, "a"))
			}
		})
	}
}
