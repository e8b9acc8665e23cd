/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index_test

import (
	"fmt"
	"slices"
	"time"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

// blockSize is small, so that the examples can be followed by hand.
const blockSize = 4

// tokens returns n token ids that count up from one.
func tokens(from uint32, n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = from + uint32(i)
	}
	return ids
}

func chainOf(prompt []uint32) []uint64 {
	return fingerprint.Chain(nil, fingerprint.Parent{}, prompt, blockSize)
}

// engine reports to an index what it holds.
type engine struct {
	index    *index.Index
	stream   index.Stream
	sequence uint64
}

// join opens a session and declares the engine's KV cache groups.
func join(x *index.Index, pod string, groups ...index.Group) *engine {
	hello := index.Hello{
		Holder: index.Holder{Namespace: "team", Pod: pod},
		Tenant: "team", Model: "llama", HashScheme: "vllm", Epoch: 1,
	}
	stream, _, err := x.Open(hello, time.Time{})
	if err != nil {
		panic(err)
	}
	e := &engine{index: x, stream: stream}
	changes := []index.Change{{Op: index.DeclareScope, Scope: index.Scope{BlockSize: blockSize}}}
	for _, g := range groups {
		changes = append(changes, index.Change{Op: index.DeclareGroup, Group: g})
	}
	e.report(changes...)
	return e
}

// report sends the next delta.
func (e *engine) report(changes ...index.Change) {
	e.sequence++
	if _, err := e.index.Delta(e.stream, e.sequence, changes, time.Time{}, time.Time{}); err != nil {
		panic(err)
	}
}

// store is the change for the blocks from the first-th to the one before end.
func store(group uint32, tier index.Tier, chain []uint64, first, end int) index.Change {
	c := index.Change{Op: index.Store, GroupIndex: group, Tier: tier, Depth: uint32(first), Hashes: chain[first:end]}
	if first > 0 {
		c.Parent, c.HasParent = chain[first-1], true
	}
	return c
}

// ask prints what each engine will reuse of a prompt.
func ask(x *index.Index, prompt []uint32) {
	hits, _ := x.Lookup(&index.Query{
		Tenant: "team", Model: "llama", PromptTokens: len(prompt),
		Chains: []index.Chain{{BlockSize: blockSize, Hashes: chainOf(prompt)}},
	}, nil)
	slices.SortFunc(hits, func(a, b index.Hit) int { return a.Session.Holder().Compare(b.Session.Holder()) })
	for _, h := range hits {
		fmt.Printf("  %s: %2d tokens, blocks by tier %v, exact: %t\n", h.Session.Holder().Pod, h.Tokens, h.Tiers, h.Exact)
	}
}

// Two conversations share the blocks of a system prompt.
func Example() {
	x := index.New(index.Options{}, time.Time{})
	full := index.Group{Kind: index.FullGroup, BlockSize: blockSize}
	a, b := tokens(1, 26), append(tokens(1, 8), tokens(101, 22)...)
	chainA, chainB := chainOf(a), chainOf(b)

	pod0, pod1, pod2 := join(x, "pod-0", full), join(x, "pod-1", full), join(x, "pod-2", full)
	pod0.report(store(0, index.T1, chainA, 0, 6))
	pod0.report(index.Change{Op: index.Remove, Hashes: chainA[3:4]})
	pod1.report(store(0, index.T1, chainB, 0, 4))
	pod2.report(store(0, index.T1, chainA, 0, 3), store(0, index.T2, chainA, 3, 5))

	fmt.Println("conversation A")
	ask(x, a)
	fmt.Println("the next turn of conversation B")
	ask(x, b)
	pod0.report(store(0, index.T1, chainA, 3, 4))
	fmt.Println("conversation A, when the hole is filled")
	ask(x, a)

	// Output:
	// conversation A
	//   pod-0: 12 tokens, blocks by tier [3 0 0], exact: true
	//   pod-1:  8 tokens, blocks by tier [2 0 0], exact: true
	//   pod-2: 20 tokens, blocks by tier [3 2 0], exact: true
	// the next turn of conversation B
	//   pod-0:  8 tokens, blocks by tier [2 0 0], exact: true
	//   pod-1: 16 tokens, blocks by tier [4 0 0], exact: true
	//   pod-2:  8 tokens, blocks by tier [2 0 0], exact: true
	// conversation A, when the hole is filled
	//   pod-0: 24 tokens, blocks by tier [6 0 0], exact: true
	//   pod-1:  8 tokens, blocks by tier [2 0 0], exact: true
	//   pod-2: 20 tokens, blocks by tier [3 2 0], exact: true
}

// A sliding window of nine tokens needs the last two blocks of a prefix.
func Example_windowGroup() {
	x := index.New(index.Options{}, time.Time{})
	a := tokens(1, 26)
	chain := chainOf(a)
	pod0 := join(x, "pod-0",
		index.Group{Index: 0, Kind: index.FullGroup, BlockSize: blockSize},
		index.Group{Index: 1, Kind: index.WindowGroup, Window: 9, BlockSize: blockSize})
	pod0.report(store(0, index.T1, chain, 0, 6), store(1, index.T1, chain, 2, 4), store(1, index.T1, chain, 5, 6))
	ask(x, a)
	// Output:
	//   pod-0: 16 tokens, blocks by tier [4 0 0], exact: true
}

// What does not fit the quota is forgotten, and the answers say so.
func ExampleIndex_SetTenantLimits() {
	x := index.New(index.Options{}, time.Time{})
	x.SetTenantLimits("team", &index.TenantLimits{MaxBlocks: 4})
	a := tokens(1, 26)
	pod0 := join(x, "pod-0", index.Group{Kind: index.FullGroup, BlockSize: blockSize})
	pod0.report(store(0, index.T1, chainOf(a), 0, 6))

	fmt.Println("a prompt that it holds")
	ask(x, a)
	fmt.Println("one that it may hold")
	ask(x, tokens(1001, 26))
	holders, _ := x.Holders(time.Time{})
	fmt.Println(holders[0].State, "forgotten:", holders[0].Forgotten)
	// Output:
	// a prompt that it holds
	//   pod-0: 16 tokens, blocks by tier [4 0 0], exact: false
	// one that it may hold
	//   pod-0:  0 tokens, blocks by tier [0 0 0], exact: false
	// Degraded forgotten: 2
}
