/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func hiCache(config *inferencecache.HiCacheConfig) func(*inferencecache.CacheBackend) {
	return func(b *inferencecache.CacheBackend) {
		b.Spec.Runtime = inferencecache.RuntimeSGLang
		b.Spec.Type = inferencecache.CacheBackendTypeSGLangHiCache
		b.Spec.HiCache = config
	}
}

func TestHiCache(t *testing.T) {
	badRatio := func(text string) backendCase {
		return backendCase{
			change: hiCache(&inferencecache.HiCacheConfig{Ratio: text}),
			want:   []string{`spec.hiCache.ratio: Invalid value: "` + text + `": must be a finite number greater than zero, such as "2.0"`},
		}
	}
	runBackendCases(t, map[string]backendCase{
		"size":           {change: hiCache(&inferencecache.HiCacheConfig{SizeGB: ptr.To[int32](64)})},
		"ratio":          {change: hiCache(&inferencecache.HiCacheConfig{Ratio: "2.0"})},
		"ratio exponent": {change: hiCache(&inferencecache.HiCacheConfig{Ratio: "5e-1"})},
		"every option": {change: hiCache(&inferencecache.HiCacheConfig{
			Ratio:        "1",
			WritePolicy:  inferencecache.HiCacheWriteThroughSelective,
			IOBackend:    inferencecache.HiCacheIOKernelAscend,
			MemoryLayout: inferencecache.HiCachePageFirstKVSplit,
		})},
		"missing for the type": {
			change: hiCache(nil),
			want:   []string{`spec.hiCache: Required value: type SGLangHiCache needs it; set hiCache.sizeGB or hiCache.ratio`},
		},
		"neither size nor ratio": {
			change: hiCache(&inferencecache.HiCacheConfig{}),
			want:   []string{`spec.hiCache: Required value: set exactly one of sizeGB and ratio`},
		},
		"both size and ratio": {
			change: hiCache(&inferencecache.HiCacheConfig{SizeGB: ptr.To[int32](1), Ratio: "1"}),
			want:   []string{`spec.hiCache.ratio: Forbidden: exactly one of sizeGB and ratio may be set; remove one of them`},
		},
		"size of zero": {
			change: hiCache(&inferencecache.HiCacheConfig{SizeGB: ptr.To[int32](0)}),
			want:   []string{`spec.hiCache.sizeGB: Invalid value: 0: must be at least 1`},
		},
		"ratio of zero":        badRatio("0"),
		"ratio below zero":     badRatio("-1"),
		"ratio not a number":   badRatio("NaN"),
		"ratio without bound":  badRatio("Inf"),
		"ratio over the range": badRatio("1e999"),
		"ratio in hexadecimal": badRatio("0x1p1"),
		"ratio in words":       badRatio("two"),
		"unknown options": {
			change: hiCache(&inferencecache.HiCacheConfig{Ratio: "1", WritePolicy: "writeBack", IOBackend: "cuda", MemoryLayout: "rows"}),
			want: []string{
				`spec.hiCache.writePolicy: Unsupported value: "writeBack": supported values: "write_back", "write_through", "write_through_selective"`,
				`spec.hiCache.ioBackend: Unsupported value: "cuda": supported values: "direct", "kernel", "kernel_ascend"`,
				`spec.hiCache.memoryLayout: Unsupported value: "rows": supported values: "layer_first", "page_first", "page_first_direct", "page_first_kv_split", "page_head"`,
			},
		},
		"with another type": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.HiCache = &inferencecache.HiCacheConfig{Ratio: "1"}
			},
			want: []string{`spec.hiCache: Forbidden: only allowed with type SGLangHiCache; remove it or change spec.type`},
		},
	})
}

func TestLMCache(t *testing.T) {
	capacity := func(text string) *inferencecache.LMCacheHostMemory {
		return &inferencecache.LMCacheHostMemory{Capacity: ptr.To(resource.MustParse(text))}
	}
	with := func(config inferencecache.LMCacheConfig) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) { b.Spec.LMCache = &config }
	}
	runBackendCases(t, map[string]backendCase{
		"empty": {change: with(inferencecache.LMCacheConfig{})},
		"full": {change: with(inferencecache.LMCacheConfig{
			ChunkSizeTokens: ptr.To[int32](1), HostMemory: capacity("1"), WorkerPort: ptr.To[int32](65535),
		})},
		"out of bounds": {
			change: with(inferencecache.LMCacheConfig{
				ChunkSizeTokens: ptr.To[int32](0), HostMemory: capacity("0"), WorkerPort: ptr.To[int32](65536),
			}),
			want: []string{
				`spec.lmCache.chunkSizeTokens: Invalid value: 0: must be at least 1`,
				`spec.lmCache.workerPort: Invalid value: 65536: must be from 1 to 65535`,
				`spec.lmCache.hostMemory.capacity: Invalid value: "0": must be greater than zero; leave it out for the default of the runtime`,
			},
		},
		"below bounds": {
			change: with(inferencecache.LMCacheConfig{HostMemory: capacity("-1Gi"), WorkerPort: ptr.To[int32](0)}),
			want: []string{
				`spec.lmCache.workerPort: Invalid value: 0: must be from 1 to 65535`,
				`spec.lmCache.hostMemory.capacity: Invalid value: "-1Gi": must be greater than zero; leave it out for the default of the runtime`,
			},
		},
		"with another type": {
			change: func(b *inferencecache.CacheBackend) {
				hiCache(&inferencecache.HiCacheConfig{Ratio: "1"})(b)
				b.Spec.LMCache = &inferencecache.LMCacheConfig{}
			},
			want: []string{`spec.lmCache: Forbidden: only allowed with type LMCache; remove it or change spec.type`},
		},
	})
}
