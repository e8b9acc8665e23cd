/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"math/rand/v2"
	"slices"
)

// WorkloadConfig shapes a [Workload]. A zero field means the default that its
// comment names.
type WorkloadConfig struct {
	// Seed decides everything.
	Seed uint64
	// Systems is the number of system prompts, SystemTokens their length;
	// defaults 8 and 100. Few of them are used by most conversations.
	Systems, SystemTokens int
	// Conversations is how many go on at the same time; default 16.
	Conversations int
	// TurnTokens and AnswerTokens bound what a user says and what the engine
	// answers in one turn; defaults 40 and 24.
	TurnTokens, AnswerTokens int
	// MaxTokens ends a conversation that would grow longer; default 1000.
	MaxTokens int
	// Salted is the share of conversations under a salt of their own, in
	// percent; default none.
	Salted int
	// Branching is the share of conversations that begin as a copy of the
	// beginning of another one, of at most half of MaxTokens and under its salt,
	// in percent; default none.
	Branching int
	// Vocabulary is the number of token ids in use; default that of [Engine].
	Vocabulary uint32
}

func (c WorkloadConfig) withDefaults() WorkloadConfig {
	for field, fallback := range map[*int]int{
		&c.Systems: 8, &c.SystemTokens: 100, &c.Conversations: 16,
		&c.TurnTokens: 40, &c.AnswerTokens: 24, &c.MaxTokens: 1000,
	} {
		if *field == 0 {
			*field = fallback
		}
	}
	if c.Vocabulary == 0 {
		c.Vocabulary = vocabulary
	}
	return c
}

// Workload is an endless series of conversation turns: many conversations at a
// time, each behind one of a few system prompts, of which some are much more
// common than others. It is not safe for concurrent use.
type Workload struct {
	cfg           WorkloadConfig
	random        *rand.Rand
	popularity    *rand.Zipf
	systems       [][]uint32
	conversations []conversation
	salts         int
}

type conversation struct {
	tokens []uint32
	salt   string
}

// NewWorkload returns a workload in which no conversation has begun.
func NewWorkload(cfg WorkloadConfig) *Workload {
	cfg = cfg.withDefaults()
	random := rand.New(rand.NewPCG(cfg.Seed, 0))
	w := &Workload{
		cfg:           cfg,
		random:        random,
		popularity:    rand.NewZipf(random, 1.2, 1, uint64(cfg.Systems-1)),
		conversations: make([]conversation, cfg.Conversations),
	}
	for range cfg.Systems {
		w.systems = append(w.systems, w.text(cfg.SystemTokens))
	}
	return w
}

// Next returns the next turn and the conversation to which it belongs. The
// answer goes back with [Workload.Answer].
func (w *Workload) Next() (int, Request) {
	i := w.random.IntN(len(w.conversations))
	c := &w.conversations[i]
	turn := w.text(1 + w.random.IntN(w.cfg.TurnTokens))
	output := 1 + w.random.IntN(w.cfg.AnswerTokens)
	if len(c.tokens) == 0 || len(c.tokens)+len(turn)+output > w.cfg.MaxTokens {
		*c = w.begin()
	}
	c.tokens = append(c.tokens, turn...)
	return i, Request{Tokens: append([]uint32(nil), c.tokens...), MaxTokens: output, Salt: c.salt}
}

// Answer adds what the engine generated to a conversation.
func (w *Workload) Answer(conversation int, output []uint32) {
	c := &w.conversations[conversation]
	c.tokens = append(c.tokens, output...)
}

// begin draws how a conversation starts.
func (w *Workload) begin() conversation {
	if w.cfg.Branching > 0 && w.random.IntN(100) < w.cfg.Branching {
		from := w.conversations[w.random.IntN(len(w.conversations))]
		if len(from.tokens) > 0 {
			return conversation{tokens: slices.Clone(from.tokens[:1+w.random.IntN(min(len(from.tokens), w.cfg.MaxTokens/2))]), salt: from.salt}
		}
	}
	c := conversation{tokens: append([]uint32(nil), w.systems[w.popularity.Uint64()]...)}
	if w.random.IntN(100) < w.cfg.Salted {
		w.salts++
		c.salt = "tenant-" + string(rune('a'+w.salts%26))
	}
	return c
}

func (w *Workload) text(tokens int) []uint32 {
	out := make([]uint32, tokens)
	for i := range out {
		out[i] = w.random.Uint32N(w.cfg.Vocabulary)
	}
	return out
}
