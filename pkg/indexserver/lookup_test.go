/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/routing"
)

// tokens returns the ids from first to last.
func tokens(first, last uint32) []uint32 {
	var ids []uint32
	for id := first; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

func chainOf(parent fingerprint.Parent, ids []uint32) []uint64 {
	return fingerprint.Chain(nil, parent, ids, blockSize)
}

func wire(chain []uint64) [][]byte {
	var out [][]byte
	for _, hash := range chain {
		out = append(out, fingerprint.AppendWire(nil, hash))
	}
	return out
}

// startWithPrompt runs a server whose only engine holds the tokens 1 to 64, also
// under a salt.
func startWithPrompt(t *testing.T) (*indexservertest.Instance, *indexservertest.Stream) {
	t.Helper()
	s := indexservertest.Start(t)
	stream := seed(t, s, chainOf(fingerprint.Parent{}, tokens(1, 64))...)
	stream.Delta(2,
		&pb.Change{Change: &pb.Change_Scope{Scope: &pb.Scope{Id: 1, BlockSize: blockSize, Salted: true}}},
		salted(indexservertest.Store(chainOf(fingerprint.SaltParent("pepper"), tokens(1, 64))...)))
	stream.Acked(2)
	return s, stream
}

func salted(store *pb.Change) *pb.Change {
	store.GetStore().Scope = 1
	return store
}

func lookup(t *testing.T, s *indexservertest.Instance, req *pb.LookupRouteRequest) *pb.LookupRouteResponse {
	t.Helper()
	response, err := s.Client(t).LookupRoute(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestLookupInputs(t *testing.T) {
	s, _ := startWithPrompt(t)
	chain := chainOf(fingerprint.Parent{}, tokens(1, 64))
	keyed := []*pb.BlockKeys{{Block: 1, Keys: []*pb.BlockKey{
		{Key: &pb.BlockKey_Text{Text: "x"}}, {Key: &pb.BlockKey_Data{Data: []byte("y")}},
		{Key: &pb.BlockKey_Placed{Placed: &pb.PlacedKey{Identifier: "img", Offset: -3}}},
	}}}
	tests := map[string]struct {
		request *pb.LookupRouteRequest
		matched int32
		prompt  int32
	}{
		"token ids":                         {&pb.LookupRouteRequest{TokenIds: tokens(1, 70)}, 64, 70},
		"the last token is always computed": {&pb.LookupRouteRequest{TokenIds: tokens(1, 64)}, 48, 64},
		"token ids under a salt":            {&pb.LookupRouteRequest{TokenIds: tokens(1, 70), CacheSalt: "pepper"}, 64, 70},
		"token ids with keys":               {&pb.LookupRouteRequest{TokenIds: tokens(1, 70), BlockKeys: keyed}, 16, 70},
		"chain":                             {&pb.LookupRouteRequest{BlockHashes: wire(chain)}, 64, 0},
		"chain of a known prompt":           {&pb.LookupRouteRequest{BlockHashes: wire(chain), PrefixTokenCount: 64}, 48, 64},
		"chain with counts":                 {&pb.LookupRouteRequest{BlockHashes: wire(chain[:2]), BlockTokenCounts: []int32{16, 16}}, 32, 0},
		"packed chain":                      {&pb.LookupRouteRequest{PackedBlockHashes: indexservertest.Pack(chain...)}, 64, 0},
		"packed chain wins":                 {&pb.LookupRouteRequest{PackedBlockHashes: indexservertest.Pack(chain[:1]...), BlockHashes: wire(chain)}, 16, 0},
		"chain wins over tokens":            {&pb.LookupRouteRequest{BlockHashes: wire(chain[:1]), TokenIds: tokens(1, 70)}, 16, 0},
		"prefix hash":                       {&pb.LookupRouteRequest{PrefixHash: wire(chain)[2]}, 48, 0},
		"prefix hash with its length":       {&pb.LookupRouteRequest{PrefixHash: wire(chain)[2], PrefixTokenCount: 48}, 48, 0},
		"prefix hash wins over tokens":      {&pb.LookupRouteRequest{PrefixHash: wire(chain)[0], TokenIds: tokens(1, 70)}, 16, 0},
		"named hash scheme":                 {&pb.LookupRouteRequest{TokenIds: tokens(1, 70), HashScheme: "vllm"}, 64, 70},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.request.TenantId, test.request.ModelId = "team", "llama"
			got := lookup(t, s, test.request)
			want := &pb.LookupRouteResponse{
				ReasonCode: "PREFIX_MATCH", ObservedBy: indexservertest.Name, Complete: true, PromptTokens: test.prompt,
				ReplicaScores: []*pb.ReplicaScore{{
					ReplicaId: "engine-0", Namespace: "team", Pod: "engine-0", Score: float32(test.matched) * 1000 / routing.DefaultPrefillRate,
					MatchedTokens: test.matched, EstimatedCacheHitProb: 1, Tier: pb.CacheTier_CACHE_TIER_T1, Exact: true, State: "Live",
					Sequence: 2,
				}},
			}
			rest := protocmp.IgnoreFields(&pb.ReplicaScore{}, "expected_ttft_ms")
			if diff := cmp.Diff(want, got, protocmp.Transform(), rest); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMalformedLookups(t *testing.T) {
	s, _ := startWithPrompt(t)
	tests := map[string]struct {
		request     *pb.LookupRouteRequest
		explanation string
	}{
		"nothing":               {&pb.LookupRouteRequest{}, "the request has no block hashes, no prefix hash and no token ids"},
		"prompt text":           {&pb.LookupRouteRequest{PromptText: "hi"}, "prompt_text: this server has no tokenizer, send token_ids or block_hashes"},
		"short hash":            {&pb.LookupRouteRequest{BlockHashes: [][]byte{make([]byte, 8), {1}}}, "block_hashes[1]: block hash is not 8 bytes long"},
		"split packed hash":     {&pb.LookupRouteRequest{PackedBlockHashes: make([]byte, 9)}, "packed_block_hashes: 9 bytes, want a multiple of 8"},
		"long prefix hash":      {&pb.LookupRouteRequest{PrefixHash: make([]byte, 32)}, "prefix_hash: block hash is not 8 bytes long"},
		"counts do not match":   {&pb.LookupRouteRequest{PackedBlockHashes: make([]byte, 8), BlockTokenCounts: []int32{1, 2}}, "block_token_counts has 2 entries for 1 block hashes"},
		"negative counts":       {&pb.LookupRouteRequest{PackedBlockHashes: make([]byte, 8), BlockTokenCounts: []int32{-1}}, "block_token_counts has an entry below 1"},
		"negative prompt":       {&pb.LookupRouteRequest{PackedBlockHashes: make([]byte, 8), PrefixTokenCount: -1}, "prefix_token_count: -1 is below 0"},
		"negative top_k":        {&pb.LookupRouteRequest{TokenIds: tokens(1, 64), TopK: -1}, "top_k: -1 is below 0"},
		"keys of a block twice": {&pb.LookupRouteRequest{TokenIds: tokens(1, 64), BlockKeys: []*pb.BlockKeys{{Block: 1}, {Block: 1}}}, "block_keys[1].block: block 1 is named twice"},
		"empty key":             {&pb.LookupRouteRequest{TokenIds: tokens(1, 64), BlockKeys: []*pb.BlockKeys{{Keys: []*pb.BlockKey{{}}}}}, "block_keys[0].keys[0]: none of the known kinds is set"},
		"too many tokens":       {&pb.LookupRouteRequest{TokenIds: make([]uint32, routing.MaxTokens+1)}, "the prompt has 1048577 tokens, at most 1048576 are accepted"},
		"reserved tenant":       {&pb.LookupRouteRequest{TenantId: indexserver.ReservedTenant, TokenIds: tokens(1, 64)}, "the tenant inferencecache.io/probe is reserved for probes"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.request.ModelId = "llama"
			if test.request.TenantId == "" {
				test.request.TenantId = "team"
			}
			got := lookup(t, s, test.request)
			if got.GetReasonCode() != "NO_HINT" || got.GetExplanation() != test.explanation || len(got.GetReplicaScores()) != 0 {
				t.Errorf("got %v, want NO_HINT: %s", got, test.explanation)
			}
		})
	}
}

func TestLongestPromptIsRead(t *testing.T) {
	s, _ := startWithPrompt(t)
	ids := make([]uint32, routing.MaxTokens)
	for i := range ids {
		// Ids of this size take five bytes each.
		ids[i] = 1<<32 - 1
	}
	got := lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: ids})
	if got.GetReasonCode() != "AFFINITY_HINT" || got.GetPromptTokens() != routing.MaxTokens {
		t.Errorf("got %v, want AFFINITY_HINT for all tokens", got)
	}
}

func TestReasons(t *testing.T) {
	s, stream := startWithPrompt(t)
	foreign := tokens(1000, 1100)
	tests := map[string]struct {
		request *pb.LookupRouteRequest
		want    string
	}{
		"tenant": {&pb.LookupRouteRequest{TenantId: "nobody", ModelId: "llama", TokenIds: foreign}, "UNKNOWN_TENANT"},
		"model":  {&pb.LookupRouteRequest{TenantId: "team", ModelId: "none", TokenIds: foreign}, "UNKNOWN_MODEL"},
		"scheme": {&pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", HashScheme: "sglang", TokenIds: foreign}, "UNKNOWN_HASH_SCHEME"},
		"miss":   {&pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: foreign}, "AFFINITY_HINT"},
		"short":  {&pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: tokens(1, 3)}, "NO_HINT"},
		"hash":   {&pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PrefixHash: make([]byte, 8)}, "TENANT_HOT"},
	}
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Stats{Stats: &pb.EngineStats{
		HitTokens: new(int64(50)), QueryTokens: new(int64(100)),
	}}})
	stream.Heartbeat(2)
	stream.Acked(2)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.request.Explain = true
			got := lookup(t, s, test.request)
			if got.GetReasonCode() != test.want || got.GetExplanation() == "" {
				t.Errorf("got %v, want %s and an explanation", got, test.want)
			}
		})
	}
	t.Run("empty index", func(t *testing.T) {
		empty := indexservertest.Start(t)
		got := lookup(t, empty, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: foreign})
		if got.GetReasonCode() != "NO_HINT" {
			t.Errorf("got %v, want NO_HINT", got)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		got := s.Server.Lookup(ctx, &routing.Request{Tenant: "team", Model: "llama", Tokens: foreign})
		if got.Reason != routing.Timeout {
			t.Errorf("got %v, want TIMEOUT", got)
		}
	})
}

func TestLookupSeesTheStateOfTheHolder(t *testing.T) {
	s, stream := startWithPrompt(t)
	request := &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: tokens(1, 70), AdapterId: "", Explain: true}
	if got := lookup(t, s, request); !got.GetComplete() || got.GetReplicaScores()[0].GetExplanation() == "" {
		t.Errorf("got %v, want a complete and explained answer", got)
	}
	stream.Kill()
	s.AwaitState(t, index.Suspect)
	got := lookup(t, s, request)
	if got.GetComplete() || got.GetReplicaScores()[0].GetState() != "Suspect" || got.GetReplicaScores()[0].GetMatchedTokens() != 64 {
		t.Errorf("got %v, want an incomplete answer with a suspect replica", got)
	}
	s.Clock.Step(index.DefaultLease + time.Second)
	indexservertest.Await(t, "the holder's end", func() bool {
		return lookup(t, s, request).GetReasonCode() == "NO_HINT"
	})
}

func TestLookupEchoesTheAdapter(t *testing.T) {
	s, _ := startWithPrompt(t)
	request := &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: tokens(1, 70), AdapterId: "sql"}
	got := lookup(t, s, request)
	if got.GetAdapterId() != "sql" || got.GetReasonCode() != "AFFINITY_HINT" {
		t.Errorf("got %v, want the adapter and no match of the base model's blocks", got)
	}
	if again := lookup(t, s, request); !proto.Equal(got, again) {
		t.Errorf("equal questions got %v and %v", got, again)
	}
}
