/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWorkload(t *testing.T) {
	type turn struct {
		Conversation int
		Request      Request
	}
	run := func(seed uint64) []turn {
		w := NewWorkload(WorkloadConfig{Seed: seed, MaxTokens: 300, Salted: 50})
		var turns []turn
		for range 500 {
			id, request := w.Next()
			turns = append(turns, turn{id, request})
			w.Answer(id, make([]uint32, request.MaxTokens))
		}
		return turns
	}
	turns := run(1)
	if diff := cmp.Diff(turns, run(1)); diff != "" {
		t.Errorf("one seed gives two workloads:\n%.500s", diff)
	}
	if cmp.Equal(turns, run(2)) {
		t.Error("two seeds give one workload")
	}
	salted, continued := 0, 0
	last := map[int]int{}
	for _, turn := range turns {
		tokens := len(turn.Request.Tokens)
		if tokens+turn.Request.MaxTokens > 300 {
			t.Fatalf("a turn of %d tokens and %d more", tokens, turn.Request.MaxTokens)
		}
		if turn.Request.Salt != "" {
			salted++
		}
		if tokens > last[turn.Conversation] && last[turn.Conversation] > 0 {
			continued++
		}
		last[turn.Conversation] = tokens
	}
	if salted == 0 || salted == len(turns) {
		t.Errorf("%d of %d turns are salted", salted, len(turns))
	}
	if continued < len(turns)/4 {
		t.Errorf("only %d of %d turns continue a conversation", continued, len(turns))
	}
}

func TestWorkloadBranches(t *testing.T) {
	w := NewWorkload(WorkloadConfig{Seed: 3, MaxTokens: 300, Salted: 50, Branching: 50, Vocabulary: 50})
	// beginnings are longer than a system prompt and belong to one conversation.
	const beginning = 110
	beginnings, branched := map[string]map[int]bool{}, 0
	for range 2000 {
		id, request := w.Next()
		if tokens := len(request.Tokens); tokens+request.MaxTokens > 300 {
			t.Fatalf("a turn of %d tokens and %d more", tokens, request.MaxTokens)
		}
		for _, token := range request.Tokens {
			if token >= 50 {
				t.Fatalf("token %d with a vocabulary of 50", token)
			}
		}
		w.Answer(id, make([]uint32, request.MaxTokens))
		if len(request.Tokens) < beginning {
			continue
		}
		key := fmt.Sprint(request.Salt, request.Tokens[:beginning])
		if beginnings[key] == nil {
			beginnings[key] = map[int]bool{}
		}
		if beginnings[key][id] = true; len(beginnings[key]) == 2 {
			branched++
		}
	}
	if branched < 10 {
		t.Errorf("%d conversations branch", branched)
	}
}
