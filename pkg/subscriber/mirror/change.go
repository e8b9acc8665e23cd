/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "inferencecache.io/inference-cache/pkg/fingerprint"

// Tier is where a block lies; a lower tier is nearer to the engine.
type Tier uint8

// The tiers, numbered as in the index protocol.
const (
	// T1 is the engine's own memory.
	T1 Tier = iota + 1
	// T2 is host memory.
	T2
	// T3 is storage that outlives the engine or is shared between engines.
	T3
)

// Certainty says what a residency rests on, numbered as in the index protocol.
type Certainty uint8

// The certainties. A block has at most one of them in a group and tier.
const (
	// Announced: the engine said so.
	Announced Certainty = iota + 1
	// Inferred: concluded from the removal from a nearer tier.
	Inferred
	// Possible: one of several blocks that an announcement may mean, or a block
	// that the engine may have given up without an event.
	Possible
)

// GroupKind is how much of a prefix a KV-cache group must hold for the prefix to
// be reused, numbered as in the index protocol.
type GroupKind uint8

// The kinds of groups.
const (
	// GroupUnspecified: the rule is unknown.
	GroupUnspecified GroupKind = iota
	// GroupFull: every block.
	GroupFull
	// GroupWindow: the last blocks before the end of the prefix.
	GroupWindow
	// GroupCheckpoint: the last block of the prefix.
	GroupCheckpoint
)

// Change is one step from one reported state to the next: [ScopeDeclared],
// [GroupDeclared], [Stored], [Removed], [Cleared] or [ConfidenceChanged].
type Change interface{ isChange() }

// ScopeDeclared gives a number to the identity of blocks. It precedes every other
// change that uses the number.
type ScopeDeclared struct {
	// ID counts from 0 in the order of declaration.
	ID uint32
	// Adapter is the LoRA adapter's name, empty for the base model, and
	// "lora-id:<n>" where the engine tells only its load-order number.
	Adapter string
	// BlockSize is the number of tokens of a block.
	BlockSize uint32
	// Salted: the chains of this scope start from a salt.
	Salted bool
}

// GroupDeclared describes a KV-cache group. A later declaration of the same index
// replaces the earlier one.
type GroupDeclared struct {
	Index uint32
	Kind  GroupKind
	// SpecKind is the engine's word for the kind; empty when it gave none.
	SpecKind string
	// Window is the reach of a window group in tokens, 0 for other kinds.
	Window    uint32
	BlockSize uint32
}

// Place is where blocks can be, and how certain that is.
type Place struct {
	Group     uint32
	Tier      Tier
	Certainty Certainty
}

// Stored adds consecutive blocks of one chain.
type Stored struct {
	Scope     uint32
	Group     uint32
	Tier      Tier
	Certainty Certainty
	// Also are further places in which all of the blocks are. Only snapshots use it.
	Also []Place
	// Parent is the block before the first one; not present at the start of a
	// chain, salted or not.
	Parent fingerprint.Parent
	// Depth is the position of the first block in its chain, from 0.
	Depth  uint32
	Hashes []uint64
}

// Removed takes blocks of one group, tier and certainty away, in any order.
type Removed struct {
	Scope     uint32
	Group     uint32
	Tier      Tier
	Certainty Certainty
	Hashes    []uint64
}

// Cleared takes everything away. Scopes and groups stay declared.
type Cleared struct{}

// ConfidenceChanged says how far the state can be trusted from here on.
type ConfidenceChanged struct {
	Confidence
}

// Confidence says how far a state can be trusted.
type Confidence struct {
	// Conflicts counts contents that are known under two engine hashes.
	Conflicts int64
	// Unresolved counts resident blocks whose position in a chain is unknown.
	Unresolved int64
	// Unbounded counts those of them for which not even possible positions are
	// reported: they may be part of any prompt.
	Unbounded int64
	// Degraded says why the state is less than what the engine holds; empty when
	// it is not.
	Degraded string
}

func (ScopeDeclared) isChange()     {}
func (GroupDeclared) isChange()     {}
func (Stored) isChange()            {}
func (Removed) isChange()           {}
func (Cleared) isChange()           {}
func (ConfidenceChanged) isChange() {}
