/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

const someHash = "00112233aabbccdd"

func TestRouteLookup(t *testing.T) {
	tests := map[string]struct {
		spec inferencecache.RouteLookupSpec
		want []string
	}{
		"tokens":                {spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: []int64{0, 4294967295}}},
		"chain":                 {spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: []string{someHash}, TopK: ptr.To[int32](1)}},
		"chain with its counts": {spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: []string{someHash, someHash}, BlockTokenCounts: []int64{16, 16}}},
		"exact prefix":          {spec: inferencecache.RouteLookupSpec{ModelID: "m", PrefixHash: someHash}},
		"nothing": {
			want: []string{
				`spec.modelID: Required value: name the model that will serve the prompt`,
				`spec: Required value: set exactly one of tokenIDs, blockHashes and prefixHash`,
			},
		},
		"every form at once": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: []int64{1}, BlockHashes: []string{someHash}, PrefixHash: someHash},
			want: []string{
				`spec.prefixHash: Forbidden: exactly one of tokenIDs, blockHashes and prefixHash may be set, and blockHashes is; remove one of them`,
				`spec.tokenIDs: Forbidden: exactly one of tokenIDs, blockHashes and prefixHash may be set, and blockHashes is; remove one of them`,
			},
		},
		"tokens out of range": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: []int64{-1, 7, 4294967296}},
			want: []string{
				`spec.tokenIDs[0]: Invalid value: -1: must be from 0 to 4294967295`,
				`spec.tokenIDs[2]: Invalid value: 4294967296: must be from 0 to 4294967295`,
			},
		},
		"hashes of another form": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: []string{"00112233AABBCCDD", "0x112233aabbccdd", someHash + "0", ""}},
			want: []string{
				`spec.blockHashes[0]: Invalid value: "00112233AABBCCDD": must be 16 lower-case hex digits`,
				`spec.blockHashes[1]: Invalid value: "0x112233aabbccdd": must be 16 lower-case hex digits`,
				`spec.blockHashes[2]: Invalid value: "00112233aabbccdd0": must be 16 lower-case hex digits`,
				`spec.blockHashes[3]: Invalid value: "": must be 16 lower-case hex digits`,
			},
		},
		"prefix of another form": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", PrefixHash: "1"},
			want: []string{`spec.prefixHash: Invalid value: "1": must be 16 lower-case hex digits`},
		},
		"fewer counts than hashes": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: []string{someHash, someHash}, BlockTokenCounts: []int64{16}},
			want: []string{`spec.blockTokenCounts: Invalid value: 1: must have one count for each of the 2 entries of blockHashes, or be left out`},
		},
		"counts without hashes": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: []int64{1}, BlockTokenCounts: []int64{16}},
			want: []string{`spec.blockTokenCounts: Invalid value: 1: must have one count for each of the 0 entries of blockHashes, or be left out`},
		},
		"count of zero": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: []string{someHash}, BlockTokenCounts: []int64{0}},
			want: []string{`spec.blockTokenCounts[0]: Invalid value: 0: must be from 1 to 1048576`},
		},
		"too many tokens": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: make([]int64, maxTokens+1)},
			want: []string{`spec.tokenIDs: Too many: 1048577: must have at most 1048576 items`},
		},
		"too long a chain": {
			spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: make([]string, maxBlocks+1)},
			want: []string{`spec.blockHashes: Too many: 65537: must have at most 65536 items`},
		},
		"texts without end and no results": {
			spec: inferencecache.RouteLookupSpec{ModelID: strings.Repeat("m", maxIdentityLength+1), PrefixHash: someHash, TopK: ptr.To[int32](0)},
			want: []string{
				`spec.modelID: Too long: may not be more than 1024 bytes`,
				`spec.topK: Invalid value: 0: must be at least 1`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			compare(t, test.want, ValidateRouteLookup(&inferencecache.RouteLookup{Spec: test.spec}))
		})
	}
}

func TestListOfMistakesIsBounded(t *testing.T) {
	ids := make([]int64, maxTokens)
	for i := range ids {
		ids[i] = -1
	}
	errs := ValidateRouteLookup(&inferencecache.RouteLookup{Spec: inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: ids}})
	if len(errs) != maxReported+1 {
		t.Fatalf("got %d violations for a list of bad ids, want %d and a note that there are more", len(errs), maxReported)
	}
}

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		limit int64
		tier  string
		watch bool
		want  []string
	}{
		"nothing":    {},
		"everything": {limit: 10, tier: "T3"},
		"everything wrong": {
			limit: -1, tier: "t1", watch: true,
			want: []string{
				`limit: Invalid value: -1: must be at least 0`,
				`tier: Unsupported value: "t1": supported values: "T1", "T2", "T3"`,
				`watch: Forbidden: cannot be watched; read it again, or watch cacheindices`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			compare(t, test.want, ValidateCacheBackendObservationOptions(&inferencecache.CacheBackendObservationOptions{
				Limit: test.limit, Tier: test.tier, Watch: test.watch,
			}))
			compare(t, test.want, ValidateCacheBackendSnapshotOptions(&inferencecache.CacheBackendSnapshotOptions{
				Limit: test.limit, Tier: test.tier, Watch: test.watch,
			}))
		})
	}
}

func BenchmarkValidateRouteLookup(b *testing.B) {
	hashes := make([]string, 1024)
	for i := range hashes {
		hashes[i] = someHash
	}
	lookup := &inferencecache.RouteLookup{Spec: inferencecache.RouteLookupSpec{ModelID: "m", BlockHashes: hashes}}
	b.ReportAllocs()
	for b.Loop() {
		if errs := ValidateRouteLookup(lookup); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
