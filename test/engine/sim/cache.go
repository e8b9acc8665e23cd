/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

// eventKind is what an event reports.
type eventKind uint8

const (
	stored eventKind = iota + 1
	removed
	cleared
)

// Media as SGLang and vLLM spell them.
const (
	mediumGPU  = "GPU"
	mediumHost = "CPU_PINNED"
)

// event is one change of a cache before it is put into an engine's words.
type event struct {
	kind   eventKind
	hashes []digest
	// parent is the digest before the first token, nil at the start of a chain.
	parent *digest
	tokens []uint32
	// first says that the first of hashes starts a chain.
	first         bool
	adapter, salt string
	session       string
	medium        string
	group         int
	window        int
}

// sequence is a request while it runs.
type sequence struct {
	Request

	// tokens have a KV entry, or get one in the step at hand.
	tokens []uint32
	// chain holds the digests of the full blocks of tokens.
	chain []digest
	// tables hold a block per group and position; nil where none is needed.
	tables [][]*block
	// leaf is the deepest tree node that the request locks, shared the pages up
	// to it, owned the pages that are the request's alone.
	leaf          *node
	shared, owned int
}

// usage is how full a cache is, in blocks, and how loaded the engine says it is.
type usage struct {
	running, evictable, total int
	hostUsed, hostTotal       int

	runningRequests, waitingRequests int
}

// cache is what the two engines' caches have in common. Every method returns
// the batches of events that it causes, in order.
type cache interface {
	// admit finds what can be reused of a prompt, makes room for the rest and
	// stores it. It returns the reused tokens, split by tier.
	admit(s *sequence) (device, host int, batches [][]event)
	// extend makes room for the newest token of s and stores a block that it
	// completes.
	extend(s *sequence) [][]event
	// finish releases what s holds.
	finish(s *sequence) [][]event
	// reset forgets everything; nothing may be running.
	reset() [][]event
	usage() usage
	// foresee returns the tokens that admit would reuse, and changes nothing.
	foresee(r Request) int
}

// batch wraps the events of one step; none make no batch.
func batch(events []event) [][]event {
	if len(events) == 0 {
		return nil
	}
	return [][]event{events}
}
