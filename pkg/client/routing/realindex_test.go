/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/client/routing"
	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// blockSize is that of the engine in the test below.
const blockSize = 16

// letters is a tokenizer that has a token for each byte.
type letters struct{}

// Tokenize implements the index's tokenizer.
func (letters) Tokenize(_ context.Context, _, prompt string) ([]uint32, error) {
	ids := make([]uint32, len(prompt))
	for i := range ids {
		ids[i] = uint32(prompt[i])
	}
	return ids, nil
}

// TestTheRealIndex asks an index server, with one engine that holds a prompt, in
// every form that a query can have.
func TestTheRealIndex(t *testing.T) {
	const text = "An engine keeps what it has computed for prompts that begin alike. This one does."
	tokens, err := letters{}.Tokenize(t.Context(), "", text)
	if err != nil {
		t.Fatal(err)
	}
	server := indexservertest.Start(t, indexservertest.WithTokenizer(letters{}))
	for rank, salt := range []string{"", "secret"} {
		hello := indexservertest.Hello()
		hello.Holder.Rank = uint32(rank)
		stream, _ := server.Open(t, hello)
		changes := indexservertest.Declare(blockSize)
		changes[0].GetScope().Salted = salt != ""
		chain := fingerprint.Chain(nil, fingerprint.SaltParent(salt), tokens, blockSize)
		stream.Delta(1, append(changes, indexservertest.Store(chain...))...)
		stream.Acked(1)
	}
	client, err := routing.New(routing.Options{
		Servers: []string{server.Address}, CAFile: server.CAFile, TokenFile: server.TokenFile,
		Timeout: indexservertest.Patience, HealthInterval: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)

	full := len(tokens) / blockSize * blockSize
	chain := fingerprint.Chain(nil, fingerprint.Parent{}, tokens, blockSize)
	cases := map[string]struct {
		query   routing.Query
		matched int
		engine  string
	}{
		"token ids":              {routing.Query{TokenIDs: tokens}, full, "engine-0"},
		"token ids, hashed here": {routing.Query{TokenIDs: tokens, BlockSize: blockSize}, full, "engine-0"},
		"salted":                 {routing.Query{TokenIDs: tokens, Salt: "secret"}, full, "engine-0/1"},
		"salted, hashed here":    {routing.Query{TokenIDs: tokens, Salt: "secret", BlockSize: blockSize}, full, "engine-0/1"},
		"a chain":                {routing.Query{Chain: chain}, full, "engine-0"},
		"a chain with its size":  {routing.Query{Chain: chain, BlockSize: blockSize, PromptTokens: len(tokens)}, full, "engine-0"},
		"text":                   {routing.Query{Text: text}, full, "engine-0"},
		"salted text":            {routing.Query{Text: text, Salt: "secret"}, full, "engine-0/1"},
		// An engine always computes at least one token.
		"ending with a block":              {routing.Query{TokenIDs: tokens[:full]}, full - blockSize, "engine-0"},
		"ending with a block, hashed here": {routing.Query{TokenIDs: tokens[:full], BlockSize: blockSize}, full - blockSize, "engine-0"},
	}
	var queries []routing.Query
	var wanted []int
	for name, tc := range cases {
		tc.query.Tenant, tc.query.Model = "team", "llama"
		queries, wanted = append(queries, tc.query), append(wanted, tc.matched)
		t.Run(name, func(t *testing.T) {
			answer := client.Lookup(t.Context(), tc.query)
			best, ok := answer.Best()
			if !ok || best.ID != tc.engine || best.MatchedTokens != tc.matched || !best.Exact || !answer.Complete {
				t.Errorf("answer %+v", answer)
			}
			if asText := tc.query.Text != ""; asText && !cmp.Equal(answer.TokenIDs, tokens) {
				t.Errorf("the ids of the text are %v", answer.TokenIDs)
			}
		})
	}
	var matched []int
	for _, answer := range client.LookupBatch(t.Context(), queries) {
		best, _ := answer.Best()
		matched = append(matched, best.MatchedTokens)
	}
	if diff := cmp.Diff(wanted, matched); diff != "" {
		t.Errorf("matched tokens of a batch (-want +got):\n%s", diff)
	}
	strangers := routing.Query{Tenant: "nobody", Model: "llama", TokenIDs: tokens}
	if answer := client.Lookup(t.Context(), strangers); answer.Reason != routing.UnknownTenant || answer.Err != nil {
		t.Errorf("answer for an unknown tenant: %+v", answer)
	}
}
