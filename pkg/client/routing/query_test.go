/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/mutation"
)

// upTo returns the ids 1 to n.
func upTo(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i + 1)
	}
	return ids
}

// packed returns bytes written in hexadecimal.
func packed(t *testing.T, words ...string) []byte {
	t.Helper()
	out, err := hex.DecodeString(strings.Join(words, ""))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRequest holds queries to the contract. The hashes are the fixed vectors of
// the fingerprint, which routers outside this repository make too.
func TestRequest(t *testing.T) {
	cases := map[string]struct {
		query Query
		want  *pb.LookupRouteRequest
	}{
		"a chain": {
			Query{Tenant: "team", Model: "llama", HashScheme: "vllm", Adapter: "a", Chain: []uint64{1, 0xff}, TopK: 3, Explain: true},
			&pb.LookupRouteRequest{
				TenantId: "team", ModelId: "llama", HashScheme: "vllm", AdapterId: "a", TopK: 3, Explain: true,
				PackedBlockHashes: packed(t, "0000000000000001", "00000000000000ff"),
			},
		},
		"a chain with its size": {
			Query{Chain: []uint64{1, 2}, BlockSize: 64, PromptTokens: 130, TokenIDs: upTo(3), Text: "hi", Salt: "inside"},
			&pb.LookupRouteRequest{
				PackedBlockHashes: packed(t, "0000000000000001", "0000000000000002"),
				BlockTokenCounts:  []int32{64, 64}, PrefixTokenCount: 130,
			},
		},
		"tokens hashed here": {
			Query{TokenIDs: upTo(37), BlockSize: 16},
			&pb.LookupRouteRequest{
				PackedBlockHashes: packed(t, "ea06fc71a5ee6e88", "ad01835a37dd294c"),
				BlockTokenCounts:  []int32{16, 16}, PrefixTokenCount: 37,
			},
		},
		"salted": {
			Query{TokenIDs: upTo(32), BlockSize: 16, Salt: "tenant-a"},
			&pb.LookupRouteRequest{
				PackedBlockHashes: packed(t, "f710aaf12b75bf0e", "b985df47f72a3c9c"),
				BlockTokenCounts:  []int32{16, 16}, PrefixTokenCount: 32,
			},
		},
		"with an image": {
			Query{TokenIDs: upTo(32), BlockSize: 16, BlockKeys: map[int][]fingerprint.Key{1: {fingerprint.OffsetKey("img-1", 4)}}},
			&pb.LookupRouteRequest{
				PackedBlockHashes: packed(t, "ea06fc71a5ee6e88", "8f1b21ee27a08801"),
				BlockTokenCounts:  []int32{16, 16}, PrefixTokenCount: 32,
			},
		},
		"shorter than a block": {
			Query{TokenIDs: upTo(15), BlockSize: 16, Salt: "s"},
			&pb.LookupRouteRequest{TokenIds: upTo(15), CacheSalt: "s"},
		},
		"tokens hashed there": {
			Query{TokenIDs: upTo(20), Salt: "s", BlockKeys: map[int][]fingerprint.Key{
				7: {fingerprint.TextKey("x"), fingerprint.BytesKey([]byte{1})}, 0: {fingerprint.OffsetKey("img", -3)},
			}},
			&pb.LookupRouteRequest{TokenIds: upTo(20), CacheSalt: "s", BlockKeys: []*pb.BlockKeys{
				{Block: 0, Keys: []*pb.BlockKey{{Key: &pb.BlockKey_Placed{Placed: &pb.PlacedKey{Identifier: "img", Offset: -3}}}}},
				{Block: 7, Keys: []*pb.BlockKey{{Key: &pb.BlockKey_Text{Text: "x"}}, {Key: &pb.BlockKey_Data{Data: []byte{1}}}}},
			}},
		},
		"text": {
			Query{Text: "hi", Salt: "s", BlockSize: 16},
			&pb.LookupRouteRequest{PromptText: "hi", CacheSalt: "s"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.query.request()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequestKeepsNothing holds that a caller may go on with its slices.
func TestRequestKeepsNothing(t *testing.T) {
	query := Query{TokenIDs: upTo(4), BlockKeys: map[int][]fingerprint.Key{0: {fingerprint.BytesKey([]byte("k"))}}}
	request, err := query.request()
	if err != nil {
		t.Fatal(err)
	}
	query.TokenIDs[0], query.BlockKeys[0][0].Bytes[0] = 99, 'x'
	if request.GetTokenIds()[0] != 1 || string(request.GetBlockKeys()[0].GetKeys()[0].GetData()) != "k" {
		t.Errorf("the request has changed with the query: %v", request)
	}
}

func TestRequestRefuses(t *testing.T) {
	with := func(change func(*Query)) Query {
		query := aQuery()
		change(&query)
		return query
	}
	cases := map[string]struct {
		query Query
		err   string
	}{
		"no prompt":         {Query{Model: "llama", BlockSize: 16}, "no chain, no token ids and no text"},
		"long prompt":       {Query{TokenIDs: make([]uint32, MaxTokens+1)}, "longer than"},
		"long chain":        {Query{Chain: make([]uint64, MaxTokens+1)}, "longer than"},
		"negative length":   {with(func(q *Query) { q.PromptTokens = -1 }), "PromptTokens is -1"},
		"huge length":       {with(func(q *Query) { q.PromptTokens = 1 << 31 }), "PromptTokens is 2147483648"},
		"negative size":     {with(func(q *Query) { q.BlockSize = -1 }), "BlockSize is -1"},
		"huge size":         {with(func(q *Query) { q.BlockSize = MaxTokens + 1 }), "BlockSize is 1048577"},
		"negative number":   {with(func(q *Query) { q.TopK = -1 }), "TopK is -1"},
		"tenant":            {with(func(q *Query) { q.Tenant = "\xff" }), "not UTF-8"},
		"salt":              {with(func(q *Query) { q.Salt = "\xff" }), "not UTF-8"},
		"text":              {Query{Text: "\xff"}, "not UTF-8"},
		"key":               {with(func(q *Query) { q.BlockKeys = map[int][]fingerprint.Key{2: {fingerprint.TextKey("\xff")}} }), "BlockKeys[2]"},
		"key of no block":   {with(func(q *Query) { q.BlockKeys = map[int][]fingerprint.Key{-1: nil} }), "a block -1"},
		"key of far beyond": {with(func(q *Query) { q.BlockKeys = map[int][]fingerprint.Key{MaxTokens + 1: nil} }), "a block 1048577"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := tc.query.request(); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want one that says %q", err, tc.err)
			}
		})
	}
}

// FuzzHash compares the chains that are made here with those of the fingerprint.
func FuzzHash(f *testing.F) {
	corpus := mutation.New(f, 2000)
	corpus.Add([]byte("12345678901234567890123456789012"), uint8(2), "")
	corpus.Add(make([]byte, 400), uint8(16), "tenant")
	corpus.Fuzz(func(t *testing.T, raw []byte, size uint8, salt string) {
		query := Query{BlockSize: max(1, int(size)), Salt: strings.ToValidUTF8(salt, "")}
		for ; len(raw) >= 4; raw = raw[4:] {
			query.TokenIDs = append(query.TokenIDs, binary.LittleEndian.Uint32(raw))
		}
		if len(query.TokenIDs) < query.BlockSize {
			return
		}
		request, err := query.request()
		if err != nil {
			t.Fatal(err)
		}
		want := pack(fingerprint.Chain(nil, fingerprint.SaltParent(query.Salt), query.TokenIDs, query.BlockSize))
		if diff := cmp.Diff(want, request.GetPackedBlockHashes()); diff != "" {
			t.Errorf("chain (-want +got):\n%s", diff)
		}
	})
}
