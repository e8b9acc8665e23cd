/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// testBlock is the block size of the tests' events.
const testBlock = 4

// option changes an event under construction.
type option func(*kvevents.Event)

// stored returns a BlockStored of blocks whose tokens are those of tokensOf, with
// an engine hash each. Zero blocks means as many as there are hashes.
func stored(hashes []uint64, blocks []uint32, opts ...option) kvevents.Event {
	ev := kvevents.Event{Kind: kvevents.BlockStored, BlockSize: testBlock, Medium: "GPU"}
	for _, hash := range hashes {
		ev.Hashes = append(ev.Hashes, kvevents.IntHash(hash))
	}
	for _, block := range blocks {
		ev.Tokens = append(ev.Tokens, tokensOf(block)...)
	}
	for _, opt := range opts {
		opt(&ev)
	}
	return ev
}

// removed returns a BlockRemoved.
func removed(hashes []uint64, opts ...option) kvevents.Event {
	ev := kvevents.Event{Kind: kvevents.BlockRemoved, Medium: "GPU"}
	for _, hash := range hashes {
		ev.Hashes = append(ev.Hashes, kvevents.IntHash(hash))
	}
	for _, opt := range opts {
		opt(&ev)
	}
	return ev
}

func cleared() kvevents.Event { return kvevents.Event{Kind: kvevents.AllBlocksCleared} }

func parent(hash uint64) option {
	return func(ev *kvevents.Event) { ev.Parent, ev.HasParent = kvevents.IntHash(hash), true }
}

func medium(name string) option { return func(ev *kvevents.Event) { ev.Medium = name } }

func inGroup(index int) option {
	return func(ev *kvevents.Event) { ev.Group, ev.HasGroup = index, true }
}

func inWindow(index, tokens int) option {
	return func(ev *kvevents.Event) {
		ev.Group, ev.HasGroup, ev.SpecKind, ev.SlidingWindow = index, true, "sliding_window", tokens
	}
}

func spec(kind string) option { return func(ev *kvevents.Event) { ev.SpecKind = kind } }

func keys(perBlock ...[]kvevents.ExtraKey) option {
	return func(ev *kvevents.Event) { ev.ExtraKeys = perBlock }
}

func text(values ...string) []kvevents.ExtraKey {
	var keys []kvevents.ExtraKey
	for _, value := range values {
		keys = append(keys, kvevents.ExtraKey{Kind: kvevents.ExtraText, Text: value})
	}
	return keys
}

func image(name string, offset int64) kvevents.ExtraKey {
	return kvevents.ExtraKey{Kind: kvevents.ExtraOffset, Text: name, Int: offset}
}

func lora(name string) option { return func(ev *kvevents.Event) { ev.LoRAName = name } }

func left(copies ...int64) option {
	return func(ev *kvevents.Event) { ev.RemainingCopies = copies }
}

// tokensOf returns the tokens of the block that tests call by a number.
func tokensOf(block uint32) []uint32 {
	tokens := make([]uint32, testBlock)
	for i := range tokens {
		tokens[i] = block*100 + uint32(i)
	}
	return tokens
}

// promptOf returns a prompt of blocks and one token more, so that all of them
// count.
func promptOf(blocks ...uint32) []uint32 {
	var tokens []uint32
	for _, block := range blocks {
		tokens = append(tokens, tokensOf(block)...)
	}
	return append(tokens, 7)
}

// chain returns the contents of blocks.
func chain(salt string, blocks ...uint32) []uint64 {
	tokens := promptOf(blocks...)
	return fingerprint.Chain(nil, fingerprint.SaltParent(salt), tokens[:len(tokens)-1], testBlock)
}

// rig is a mirror with a holder that receives its changes.
type rig struct {
	*Mirror
	holder *holder
}

func newRig(opts Options) *rig { return &rig{Mirror: New(opts), holder: newHolder()} }

// send applies one batch and fails when the changes contradict what came before,
// or when a snapshot says something else.
func (r *rig) send(t *testing.T, events ...kvevents.Event) []Change {
	t.Helper()
	changes := r.Apply(&kvevents.Batch{Events: events})
	if err := r.holder.apply(changes); err != nil {
		t.Fatalf("changes %+v: %v", changes, err)
	}
	r.checkSnapshot(t)
	return changes
}
