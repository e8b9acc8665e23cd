/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// answer is what a lookup must say.
type answer struct {
	prompt  prompt
	tokens  int
	inexact bool
}

func ask(tokens int, blocks ...uint32) answer {
	return answer{prompt: prompt{tokens: promptOf(blocks...)}, tokens: tokens}
}

func askInexact(tokens int, blocks ...uint32) answer {
	a := ask(tokens, blocks...)
	a.inexact = true
	return a
}

func askAs(adapter, salt string, tokens int, blocks ...uint32) answer {
	a := ask(tokens, blocks...)
	a.prompt.adapter, a.prompt.salt = adapter, salt
	return a
}

// batches groups events into messages.
type batches [][]kvevents.Event

func one(events ...kvevents.Event) []kvevents.Event { return events }

func hashes(values ...uint64) []uint64 { return values }

func blocks(values ...uint32) []uint32 { return values }

// ruleTest is one behaviour of an engine, and what the index must say after it.
type ruleTest struct {
	opts    Options
	batches batches
	want    []answer
}

func runRules(t *testing.T, tests map[string]ruleTest) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(tc.opts)
			for _, events := range tc.batches {
				r.send(t, events...)
			}
			for _, want := range tc.want {
				tokens, exact := r.holder.lookup(want.prompt)
				if tokens != want.tokens || exact == want.inexact {
					t.Errorf("lookup of %v under adapter %q and salt %q: %d tokens, exact %v; want %d, exact %v",
						want.prompt.tokens, want.prompt.adapter, want.prompt.salt, tokens, exact, want.tokens, !want.inexact)
				}
			}
		})
	}
}

func TestCopies(t *testing.T) {
	chainOf2 := stored(hashes(1, 2), blocks(1, 2))
	again := stored(hashes(2), blocks(2), parent(1))
	runRules(t, map[string]ruleTest{
		"stored":                    {batches: batches{one(chainOf2)}, want: []answer{ask(8, 1, 2), ask(4, 1, 3), ask(0, 2)}},
		"removed":                   {batches: batches{one(chainOf2), one(removed(hashes(2)))}, want: []answer{ask(4, 1, 2)}},
		"the second copy stays":     {batches: batches{one(chainOf2), one(again), one(removed(hashes(2)))}, want: []answer{ask(8, 1, 2)}},
		"the last copy goes":        {batches: batches{one(chainOf2), one(again), one(removed(hashes(2, 2)))}, want: []answer{ask(4, 1, 2)}},
		"a hole in the middle":      {batches: batches{one(chainOf2), one(removed(hashes(1)))}, want: []answer{ask(0, 1, 2)}},
		"the hole is filled":        {batches: batches{one(chainOf2), one(removed(hashes(1))), one(stored(hashes(1), blocks(1)))}, want: []answer{ask(8, 1, 2)}},
		"remaining copies are true": {batches: batches{one(chainOf2), one(again), one(removed(hashes(2), left(0)))}, want: []answer{ask(4, 1, 2)}},
		"remaining copies, some":    {batches: batches{one(chainOf2), one(removed(hashes(2), left(1)))}, want: []answer{ask(8, 1, 2)}},
		"last-copy rule":            {opts: Options{Removals: LastCopy}, batches: batches{one(chainOf2), one(again), one(removed(hashes(2)))}, want: []answer{ask(4, 1, 2)}},
		"never seen":                {batches: batches{one(removed(hashes(9))), one(chainOf2)}, want: []answer{ask(8, 1, 2)}},
		"removed, then stored":      {batches: batches{one(chainOf2), one(removed(hashes(2)), stored(hashes(2), blocks(2), parent(1)))}, want: []answer{ask(8, 1, 2)}},
		"cleared, then stored":      {batches: batches{one(chainOf2), one(cleared(), stored(hashes(1), blocks(1)))}, want: []answer{ask(4, 1, 2)}},
		"stored, then cleared":      {batches: batches{one(chainOf2, cleared())}, want: []answer{ask(0, 1, 2)}},
		"a whole prompt is never reused": {
			batches: batches{one(chainOf2)},
			want:    []answer{{prompt: prompt{tokens: promptOf(1, 2)[:8]}, tokens: 4}},
		},
	})
}

func TestChains(t *testing.T) {
	runRules(t, map[string]ruleTest{
		"an unknown parent is not a root": {
			batches: batches{one(stored(hashes(2), blocks(2), parent(1)))},
			want:    []answer{ask(0, 2), ask(0, 1, 2)},
		},
		"the parent comes later": {
			batches: batches{one(stored(hashes(2, 3), blocks(2, 3), parent(1))), one(stored(hashes(1), blocks(1)))},
			want:    []answer{ask(12, 1, 2, 3)},
		},
		"the parent comes later in the same batch": {
			batches: batches{one(stored(hashes(2), blocks(2), parent(1)), stored(hashes(1), blocks(1)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"removed while parked": {
			batches: batches{one(stored(hashes(2, 3), blocks(2, 3), parent(1))), one(removed(hashes(3))), one(stored(hashes(1), blocks(1)))},
			want:    []answer{ask(8, 1, 2, 3)},
		},
		"the parent was evicted": {
			batches: batches{one(stored(hashes(1), blocks(1))), one(removed(hashes(1))), one(stored(hashes(2), blocks(2), parent(1))), one(stored(hashes(1), blocks(1)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"several children of one unknown parent": {
			batches: batches{
				one(stored(hashes(2), blocks(2), parent(1)), stored(hashes(3), blocks(3), parent(1)), stored(hashes(4), blocks(4), parent(1))),
				one(removed(hashes(3))), one(stored(hashes(1), blocks(1))),
			},
			want: []answer{ask(8, 1, 2), ask(4, 1, 3), ask(8, 1, 4)},
		},
		"32-byte hashes and integers are one space": {
			batches: batches{one(stored(hashes(1), blocks(1))), one(withDigest(stored(nil, blocks(2), parent(1)), 2)), one(stored(hashes(3), blocks(3), parent(2)))},
			want:    []answer{ask(12, 1, 2, 3)},
		},
		"two blocks have hashes that end alike": {
			batches: batches{one(stored(hashes(1), blocks(1))), one(stored(hashes(1), blocks(5))), one(removed(hashes(1)))},
			want:    []answer{ask(0, 1), askInexact(0, 5)},
		},
		"and both are gone": {
			batches: batches{one(stored(hashes(1), blocks(1))), one(stored(hashes(1), blocks(5))), one(removed(hashes(1))), one(removed(hashes(1)))},
			want:    []answer{ask(0, 1), ask(0, 5)},
		},
		"a hash changes its content": {
			batches: batches{one(stored(hashes(1), blocks(1))), one(stored(hashes(1), blocks(5)))},
			want:    []answer{ask(0, 1), ask(4, 5)},
		},
	})
}

// withDigest gives an event a hash of 32 bytes that ends like the integer.
func withDigest(ev kvevents.Event, hash byte) kvevents.Event {
	digest := make([]byte, 32)
	digest[0], digest[31] = 0xaa, hash
	ev.Hashes = []kvevents.Hash{kvevents.BytesHash(digest)}
	return ev
}

func TestScopes(t *testing.T) {
	runRules(t, map[string]ruleTest{
		"salt on the first block": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2), keys(text("a"), nil)))},
			want:    []answer{ask(0, 1, 2), askAs("", "a", 8, 1, 2), askAs("", "b", 0, 1, 2)},
		},
		"salt is inherited": {
			batches: batches{one(stored(hashes(1), blocks(1), keys(text("a")))), one(stored(hashes(2), blocks(2), parent(1), keys(nil)))},
			want:    []answer{askAs("", "a", 8, 1, 2), ask(0, 1, 2)},
		},
		"salt of SGLang": {
			opts:    Options{Engine: SGLang},
			batches: batches{one(stored(hashes(1), blocks(1), func(ev *kvevents.Event) { ev.CacheSalt = "a" }))},
			want:    []answer{askAs("", "a", 4, 1), ask(0, 1)},
		},
		"adapter, then salt": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2), lora("l"), keys(text("l", "s"), text("l"))))},
			want:    []answer{askAs("l", "s", 8, 1, 2), askAs("l", "", 0, 1, 2), ask(0, 1, 2)},
		},
		"an adapter without a name": {
			batches: batches{one(stored(hashes(1), blocks(1), func(ev *kvevents.Event) { ev.LoRAID, ev.HasLoRAID = 3, true }))},
			want:    []answer{askAs("lora-id:3", "", 4, 1), ask(0, 1)},
		},
		"an image separates": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2), keys(nil, []kvevents.ExtraKey{image("cat", 0)})))},
			want:    []answer{ask(4, 1, 2)},
		},
		"a salt behind an image": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2), keys(append([]kvevents.ExtraKey{image("cat", 0)}, text("s")...), nil)))},
			want:    []answer{ask(0, 1, 2), askAs("", "s", 0, 1, 2)},
		},
	})
}

// TestAdaptersOfSGLang has adapters whose blocks the engine may hide at any time:
// nothing that it announces of them can be counted on.
func TestAdaptersOfSGLang(t *testing.T) {
	first, again := stored(hashes(1, 2), blocks(1, 2), lora("l")), stored(hashes(11, 12), blocks(1, 2), lora("l"))
	unsure := func(blocks ...uint32) answer {
		a := askAs("l", "", 0, blocks...)
		a.inexact = true
		return a
	}
	sglang, once := Options{Engine: SGLang}, Options{Engine: SGLang, AdaptersLoadedOnce: true}
	runRules(t, map[string]ruleTest{
		"possible":                   {opts: sglang, batches: batches{one(first)}, want: []answer{unsure(1, 2), askAs("l", "", 0, 3), ask(0, 1, 2)}},
		"loaded again":               {opts: sglang, batches: batches{one(first), one(again)}, want: []answer{unsure(1, 2)}},
		"gone":                       {opts: sglang, batches: batches{one(first), one(removed(hashes(1, 2)))}, want: []answer{askAs("l", "", 0, 1, 2)}},
		"on the host":                {opts: sglang, batches: batches{one(first, stored(hashes(1, 2), blocks(1, 2), lora("l"), medium("CPU_PINNED")))}, want: []answer{unsure(1, 2)}},
		"kept when removed":          {opts: Options{Engine: SGLang, KeepRemoved: true}, batches: batches{one(first), one(removed(hashes(1, 2)))}, want: []answer{unsure(1, 2)}},
		"the base model":             {opts: sglang, batches: batches{one(stored(hashes(1, 2), blocks(1, 2)))}, want: []answer{ask(8, 1, 2)}},
		"promised to load once":      {opts: once, batches: batches{one(first)}, want: []answer{askAs("l", "", 8, 1, 2)}},
		"vLLM hashes the name":       {batches: batches{one(first)}, want: []answer{askAs("l", "", 8, 1, 2)}},
		"vLLM needs no such promise": {opts: Options{AdaptersLoadedOnce: true}, batches: batches{one(first)}, want: []answer{askAs("l", "", 8, 1, 2)}},
	})
}

func TestTiers(t *testing.T) {
	chainOf2 := stored(hashes(1, 2), blocks(1, 2))
	runRules(t, map[string]ruleTest{
		"host after GPU": {
			batches: batches{one(chainOf2), one(stored(hashes(1, 2), blocks(1, 2), medium("CPU_PINNED"))), one(removed(hashes(1, 2)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"tiers join": {
			batches: batches{one(chainOf2), one(stored(hashes(1), blocks(1), medium("DISK")), removed(hashes(1)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"write-back, leaf first": {
			opts:    Options{Engine: SGLang},
			batches: batches{one(chainOf2), one(stored(hashes(2), blocks(2), parent(1), medium("CPU_PINNED")), removed(hashes(2)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"clear takes all tiers": {
			batches: batches{one(chainOf2), one(stored(hashes(1), blocks(1), medium("CPU"))), one(cleared())},
			want:    []answer{ask(0, 1, 2)},
		},
		"offloaded without tokens": {
			batches: batches{one(chainOf2), one(stored(hashes(1, 2), nil, medium("CPU"))), one(removed(hashes(1, 2)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"offloaded in larger blocks": {
			batches: batches{one(chainOf2), one(stored(hashes(2), nil, medium("CPU"), size(2*testBlock))), one(removed(hashes(1, 2)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"larger block removed": {
			batches: batches{one(chainOf2), one(stored(hashes(2), nil, medium("CPU"), size(2*testBlock))), one(removed(hashes(1, 2)), removed(hashes(2), medium("CPU")))},
			want:    []answer{ask(0, 1, 2)},
		},
		"LMCache's own chain is not the engine's": {
			batches: batches{one(stored(hashes(1), blocks(1), medium("cpu")))},
			want:    []answer{ask(0, 1)},
		},
		"an unknown medium is not believed": {
			batches: batches{one(stored(hashes(1), blocks(1), medium("TAPE")))},
			want:    []answer{ask(0, 1)},
		},
		"kept when removed": {
			opts:    Options{KeepRemoved: true},
			batches: batches{one(chainOf2), one(removed(hashes(1, 2)))},
			want:    []answer{ask(8, 1, 2)},
		},
		"not kept where the engine names tiers": {
			opts:    Options{KeepRemoved: true},
			batches: batches{one(chainOf2), one(removed(hashes(2))), one(stored(hashes(1), blocks(1), medium("CPU")))},
			want:    []answer{ask(4, 1, 2)},
		},
	})
}

func size(tokens int) option { return func(ev *kvevents.Event) { ev.BlockSize = tokens } }
