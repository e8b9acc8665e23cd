/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fingerprint

import (
	"fmt"
	"testing"
)

func BenchmarkChain(b *testing.B) {
	for _, blocks := range []int{64, 1024, 8192} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			tokens := sequence(1, 16*blocks)
			dst := make([]uint64, 0, blocks)
			b.SetBytes(int64(4 * len(tokens)))
			b.ReportAllocs()
			for b.Loop() {
				dst = Chain(dst[:0], Parent{}, tokens, 16)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(blocks), "ns/block")
		})
	}
}

func BenchmarkWithKeys(b *testing.B) {
	keys := []Key{OffsetKey("0123456789abcdef0123456789abcdef", 7), TextKey("adapter")}
	b.ReportAllocs()
	for b.Loop() {
		WithKeys(1, keys)
	}
}
