/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// TestEventsTellWhatIsReused predicts every answer from the decoded events
// alone, under loads that evict, copy and slide.
func TestEventsTellWhatIsReused(t *testing.T) {
	hybrid := []Group{{Window: 40}, {}}
	tests := map[string]Config{
		"vllm 0.9.2":          {Version: "0.9.2"},
		"vllm 0.11.2":         {Version: "0.11.2"},
		"vllm 0.22.1":         {Version: "0.22.1"},
		"vllm 0.32.0":         {},
		"vllm 0.32.0 digests": {HashBytes: true},
		"vllm 0.32.0 hybrid":  {Groups: hybrid, Blocks: 400},
		"sglang 0.5.9":        {Engine: SGLang, Version: "0.5.9"},
		"sglang 0.5.16":       {Engine: SGLang, Version: "0.5.16"},
		"sglang 0.5.19":       {Engine: SGLang, Version: "0.5.19"},
		"sglang 0.5.23":       {Engine: SGLang},
		"sglang 0.5.23 host":  {Engine: SGLang, HostBlocks: 300},
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, cfg)
			w := NewWorkload(WorkloadConfig{Seed: 1, MaxTokens: 600})
			var turns []turn
			for range 400 {
				id, request := w.Next()
				request.Tokens = request.Tokens[:max(1, len(request.Tokens)-len(turns)%7)]
				before, foreseen := e.Messages(), e.Foresee(request)
				response, err := e.Request(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				if foreseen != response.CachedTokens {
					t.Fatalf("%d tokens were foreseen, %d were reused", foreseen, response.CachedTokens)
				}
				w.Answer(id, response.OutputTokens)
				turns = append(turns, turn{request.Tokens, before, response.CachedTokens})
			}
			predict(t, e, turns)
		})
	}
}

// turn is one request, the number of messages before it, and the answer.
type turn struct {
	tokens   []uint32
	messages uint64
	cached   int
}

func predict(t *testing.T, e *Engine, turns []turn) {
	t.Helper()
	r := reader{cfg: e.Config(), names: map[string]kvevents.Hash{}, texts: map[kvevents.Hash]string{}, copies: map[held]int{}}
	payloads := published(t, e)
	applied, hits := uint64(0), 0
	for i, turn := range turns {
		for ; applied < turn.messages; applied++ {
			r.apply(t, payloads[applied])
		}
		if got := r.reuse(turn.tokens); got != turn.cached {
			t.Fatalf("turn %d of %d tokens: events promise %d, the engine reused %d", i, len(turn.tokens), got, turn.cached)
		}
		if turn.cached > 0 {
			hits++
		}
	}
	if hits < len(turns)/4 || hits == len(turns) {
		t.Errorf("%d of %d turns hit: the load tests little", hits, len(turns))
	}
}

// held is a block in a group and a tier.
type held struct {
	group  int
	medium string
	hash   kvevents.Hash
}

// reader is the simplest consumer of events that gets them right.
type reader struct {
	cfg Config
	// names finds the hash of the block that ends a text, texts the reverse.
	names  map[string]kvevents.Hash
	texts  map[kvevents.Hash]string
	copies map[held]int
}

func (r *reader) apply(t *testing.T, payload []byte) {
	t.Helper()
	var decoder kvevents.Decoder
	batch, err := decoder.Decode(payload)
	if err != nil || batch.Skipped != 0 {
		t.Fatalf("%d events skipped: %v", batch.Skipped, err)
	}
	for i := range batch.Events {
		r.learn(&batch.Events[i])
	}
	for i := range batch.Events {
		e := &batch.Events[i]
		for _, hash := range e.Hashes {
			key := held{e.Group, e.Medium, hash}
			if e.Kind == kvevents.BlockStored {
				r.copies[key]++
			} else if r.copies[key]--; r.copies[key] < 0 {
				t.Fatalf("%v removed more often than stored", key)
			}
		}
	}
}

// learn reads the names of blocks from an event that lists all of them.
func (r *reader) learn(e *kvevents.Event) {
	if e.Kind != kvevents.BlockStored || len(e.Hashes)*e.BlockSize != len(e.Tokens) {
		return
	}
	text := ""
	if e.HasParent {
		text = r.texts[e.Parent]
	}
	for i, hash := range e.Hashes {
		text += fmt.Sprint(e.Tokens[i*e.BlockSize : (i+1)*e.BlockSize])
		r.names[text], r.texts[hash] = hash, text
	}
}

// reuse is the number of tokens of a prompt that the engine will reuse.
func (r *reader) reuse(tokens []uint32) int {
	var chain []kvevents.Hash
	text := ""
	for n := 1; n*r.cfg.BlockSize < len(tokens); n++ {
		text += fmt.Sprint(tokens[(n-1)*r.cfg.BlockSize : n*r.cfg.BlockSize])
		hash, known := r.names[text]
		if !known {
			break
		}
		chain = append(chain, hash)
	}
	for n := len(chain); n > 0; n-- {
		if r.holds(chain[:n]) {
			return n * r.cfg.BlockSize
		}
	}
	return 0
}

func (r *reader) holds(chain []kvevents.Hash) bool {
	for g, group := range r.cfg.Groups {
		first := 0
		if group.Window > 0 {
			first = max(0, len(chain)-group.blocks(r.cfg.BlockSize))
		}
		for _, hash := range chain[first:] {
			if r.copies[held{g, "", hash}]+r.copies[held{g, mediumGPU, hash}]+r.copies[held{g, mediumHost, hash}] == 0 {
				return false
			}
		}
	}
	return true
}
