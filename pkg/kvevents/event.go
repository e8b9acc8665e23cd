/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

// Kind is what an [Event] reports.
type Kind uint8

// The kinds of events engines send.
const (
	// BlockStored: blocks are resident in a tier from now on.
	BlockStored Kind = iota + 1
	// BlockRemoved: one copy of each listed block is gone from a tier.
	BlockRemoved
	// AllBlocksCleared: nothing is resident in any tier any more.
	AllBlocksCleared
)

// String returns the tag under which engines send the kind.
func (k Kind) String() string {
	switch k {
	case BlockStored:
		return tagStored
	case BlockRemoved:
		return tagRemoved
	case AllBlocksCleared:
		return tagCleared
	default:
		return "unknown"
	}
}

// Tags on the wire; the first array item, or the value of the key "type".
const (
	tagStored  = "BlockStored"
	tagRemoved = "BlockRemoved"
	tagCleared = "AllBlocksCleared"
)

// Event is one change of an engine's cache. It carries what the engine said,
// field by field, and draws no conclusions: in particular the number of hashes
// and the number of blocks that the tokens fill need not agree (an engine lists
// only the blocks that a sliding-window group really keeps), and a field that
// was not sent is empty here, never a guess.
//
// Slices point into the [Decoder] that produced the event; strings are copies.
type Event struct {
	// Kind says which of the other fields count: all of them for BlockStored;
	// Hashes, Medium, Group, Locality, Ownership and RemainingCopies for
	// BlockRemoved; none for AllBlocksCleared.
	Kind Kind
	// Items is the number of items of a store or removal sent as an array, the
	// tag among them, and 0 for one sent as a map. It dates releases of engines
	// that are otherwise hard to tell apart.
	Items int
	// Hashes are the engine's names of the blocks, in chain order for stores.
	Hashes []Hash
	// Parent is the block before the first token, if HasParent; without it the
	// tokens start a sequence.
	Parent    Hash
	HasParent bool
	// Tokens are the ids of all blocks of the event, flat.
	Tokens []uint32
	// BlockSize is the number of tokens of a block, at least 1.
	BlockSize int
	// LoRAID is the adapter's number in the engine's load order, which another
	// engine or another run may give to another adapter. LoRAName is the name
	// under which the adapter is served, when the engine is new enough.
	LoRAID    int64
	HasLoRAID bool
	LoRAName  string
	// Medium is the tier as the engine spells it, such as GPU, CPU or
	// CPU_PINNED; empty when it was not sent, which means GPU.
	Medium string
	// ExtraKeys says per block what separates it from another block with equal
	// tokens and parent. It is nil when the engine sent none, and an entry is
	// nil when that block has none.
	ExtraKeys [][]ExtraKey
	// CacheSalt is the salt of the sequence where an engine has a field for it
	// (SGLang); vLLM lists it among the extra keys of a chain's first block.
	CacheSalt string
	// SessionID is the session that the request named (SGLang).
	SessionID string
	// Group is the KV-cache group that holds the blocks, if HasGroup. Models
	// with several kinds of attention report each group by itself.
	Group    int
	HasGroup bool
	// SpecKind names the group's kind of attention, such as full_attention or
	// sliding_window; SlidingWindow is the window in tokens, 0 when not sent.
	SpecKind      string
	SlidingWindow int
	// Locality and Ownership say where a block lies and whose it is, for
	// engines that share a tier.
	Locality, Ownership string
	// RemainingCopies is, for a removal, how many copies of each hash are still
	// resident. Nil when the engine does not say.
	RemainingCopies []int64
}

// ExtraKeyKind says what an [ExtraKey] holds.
type ExtraKeyKind uint8

// The forms in which engines send extra keys.
const (
	// ExtraText is a string: an adapter name, a salt, a digest in hex.
	ExtraText ExtraKeyKind = iota + 1
	// ExtraBytes is a byte string, such as a digest.
	ExtraBytes
	// ExtraOffset is a pair: the identifier of a multimodal input and the
	// position in it at which the block begins.
	ExtraOffset
	// ExtraInt is a number, such as the id of an adapter.
	ExtraInt
	// ExtraRaw is anything else, kept as the msgpack bytes that were sent. It
	// still tells blocks apart, which is all that an extra key has to do.
	ExtraRaw
)

// ExtraKey is one thing besides tokens that decides what a block contains.
type ExtraKey struct {
	// Kind selects which of the other fields count.
	Kind ExtraKeyKind
	// Text is the string of an ExtraText or the identifier of an ExtraOffset.
	Text string
	// Bytes is the value of an ExtraBytes or the encoding of an ExtraRaw. It
	// points into the decoded payload.
	Bytes []byte
	// Int is the value of an ExtraInt or the position of an ExtraOffset.
	Int int64
}

// Batch is the content of one message: what happened in one step of an engine,
// in the order in which it happened.
type Batch struct {
	// Timestamp is the engine's wall clock in seconds since 1970.
	Timestamp float64
	// Rank is the engine's data-parallel rank, if HasRank.
	Rank    int
	HasRank bool
	// Events are the events that could be read.
	Events []Event
	// Skipped counts the events that are missing from Events.
	Skipped int
	// Malformed counts those among the skipped ones whose tag is known. What
	// they stored or removed is lost; a caller that needs the engine's exact
	// state has to ask for it again.
	Malformed int
}
