/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
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
