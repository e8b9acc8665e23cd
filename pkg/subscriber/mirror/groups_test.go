/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "testing"

func TestGroups(t *testing.T) {
	windowFirst := one(
		stored(hashes(2, 3), blocks(1, 2, 3), inWindow(0, 8)),
		stored(hashes(1, 2, 3), blocks(1, 2, 3), inGroup(1), spec("full_attention")),
	)
	runRules(t, map[string]ruleTest{
		"window group before the full one": {
			batches: batches{windowFirst},
			want:    []answer{ask(12, 1, 2, 3), ask(0, 1, 2)},
		},
		"the window has a hole": {
			batches: batches{windowFirst, one(removed(hashes(3), inGroup(0)))},
			want:    []answer{ask(0, 1, 2, 3)},
		},
		"the full group has a hole": {
			batches: batches{windowFirst, one(removed(hashes(1), inGroup(1)))},
			want:    []answer{ask(0, 1, 2, 3)},
		},
		"an empty list in a window group": {
			batches: batches{windowFirst, one(
				stored(nil, blocks(4), parent(3), inWindow(0, 8)),
				stored(hashes(4), blocks(4), parent(3), inGroup(1), spec("full_attention")),
			)},
			want: []answer{ask(12, 1, 2, 3, 4)},
		},
		"a checkpoint": {
			batches: batches{one(
				stored(hashes(3), blocks(1, 2, 3), inGroup(0), spec("mamba")),
				stored(hashes(1, 2, 3), blocks(1, 2, 3), inGroup(1), spec("full_attention")),
			)},
			want: []answer{ask(12, 1, 2, 3), ask(0, 1, 2)},
		},
		"a group that holds no prefixes": {
			batches: batches{one(stored(hashes(1), blocks(1), inGroup(0), spec("cross_attention")), stored(hashes(1), blocks(1), inGroup(1)))},
			want:    []answer{ask(4, 1)},
		},
		"a full group must list all": {
			batches: batches{one(stored(hashes(1), blocks(1, 2)))},
			want:    []answer{ask(0, 1, 2)},
		},
		"groups without a kind": {
			batches: batches{one(
				stored(hashes(2, 3), blocks(1, 2, 3), inGroup(0)),
				stored(hashes(1, 2, 3), blocks(1, 2, 3), inGroup(1)),
				stored(hashes(1), blocks(1), inGroup(0)),
			)},
			want: []answer{ask(12, 1, 2, 3)},
		},
		"more hashes than blocks": {
			batches: batches{one(stored(hashes(1, 2), blocks(1), inWindow(0, 8)))},
			want:    []answer{ask(0, 1)},
		},
		"only window groups, hit behind evicted blocks": {
			batches: batches{one(stored(hashes(1, 2, 3), blocks(1, 2, 3), inWindow(0, 5))), one(removed(hashes(1, 2), inGroup(0)))},
			want:    []answer{ask(12, 1, 2, 3), ask(0, 1, 2)},
		},
	})
}

func TestUnresolved(t *testing.T) {
	window := inWindow(0, 9)
	runRules(t, map[string]ruleTest{
		"positions unknown": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2, 3), window))},
			want:    []answer{askInexact(0, 1, 2, 3), askInexact(0, 1, 2), ask(0, 4)},
		},
		"gone again": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2, 3), window)), one(removed(hashes(1, 2), inGroup(0)))},
			want:    []answer{ask(0, 1, 2, 3)},
		},
		"revealed by a later store": {
			batches: batches{one(stored(hashes(2, 3), blocks(1, 2, 3), window)), one(stored(hashes(1, 2, 3), blocks(1, 2, 3), window))},
			want:    []answer{ask(12, 1, 2, 3)},
		},
		"between known neighbours": {
			batches: batches{
				one(stored(hashes(1), blocks(1), window), stored(hashes(9), blocks(9), window)),
				one(stored(hashes(3), blocks(2, 3), parent(1), window), stored(hashes(2, 3), blocks(2, 3), parent(1), window)),
			},
			want: []answer{ask(12, 1, 2, 3)},
		},
		"not told by what seems to follow": {
			batches: batches{one(stored(hashes(1, 2), blocks(1, 2, 3), window)), one(stored(nil, blocks(3), parent(2), window))},
			want:    []answer{askInexact(0, 1, 2)},
		},
		"the salt stands on the first block": {
			batches: batches{one(stored(hashes(1), blocks(1, 2), keys(text("a")), inWindow(0, 5)))},
			want:    []answer{askAs("", "a", 4, 1), ask(0, 1)},
		},
		"a salt that is not listed, but known": {
			batches: batches{one(stored(hashes(9), blocks(9), keys(text("a")), window)), one(stored(hashes(2, 3), blocks(1, 2, 3), keys(nil, nil), window))},
			want:    []answer{askInexact(0, 1, 2, 3), {prompt: prompt{salt: "a", tokens: promptOf(1, 2, 3)}, inexact: true}},
		},
		"an unlisted block may have had a key": {
			batches: batches{one(stored(hashes(2), blocks(1, 2), window)), one(removed(hashes(2), inGroup(0)))},
			want:    []answer{ask(0, 1, 2)},
		},
		"the parent is unknown": {
			batches: batches{one(stored(hashes(3), blocks(2, 3), parent(1), window)), one(stored(hashes(1), blocks(1), window))},
			want:    []answer{askInexact(4, 1, 2), askInexact(4, 1, 2, 3)},
		},
	})
}

func TestConflicts(t *testing.T) {
	a, b := stored(hashes(1), blocks(1)), stored(hashes(11), blocks(1))
	runRules(t, map[string]ruleTest{
		"two hashes, both there":      {batches: batches{one(a), one(b)}, want: []answer{ask(4, 1)}},
		"one of them goes":            {batches: batches{one(a), one(b), one(removed(hashes(1)))}, want: []answer{askInexact(0, 1)}},
		"and comes back":              {batches: batches{one(a), one(b), one(removed(hashes(1))), one(a)}, want: []answer{ask(4, 1)}},
		"a third one does not help":   {batches: batches{one(a), one(b), one(removed(hashes(1))), one(stored(hashes(21), blocks(1)))}, want: []answer{askInexact(0, 1)}},
		"stored anew after all left":  {batches: batches{one(a), one(b), one(removed(hashes(1, 11))), one(b)}, want: []answer{ask(4, 1)}},
		"gone altogether":             {batches: batches{one(a), one(b), one(removed(hashes(1, 11)))}, want: []answer{ask(0, 1)}},
		"SGLang: one hash, two names": {opts: Options{Engine: SGLang}, batches: batches{one(a), one(a)}, want: []answer{ask(4, 1)}},
		"SGLang: one of two goes": {
			opts:    Options{Engine: SGLang},
			batches: batches{one(a), one(a), one(removed(hashes(1)))},
			want:    []answer{askInexact(0, 1)},
		},
		"SGLang: nobody knows who comes back": {
			opts:    Options{Engine: SGLang},
			batches: batches{one(a), one(a), one(removed(hashes(1))), one(a)},
			want:    []answer{askInexact(0, 1)},
		},
	})
}
