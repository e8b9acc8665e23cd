/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"errors"
	"fmt"
)

// Tier says where a block lies, nearest first.
type Tier uint8

// The tiers. Tier 0 means unspecified and is taken as T1.
const (
	T1 Tier = 1 + iota // engine HBM
	T2                 // host memory or another store local to the engine
	T3                 // remote or disaggregated storage
)

// Certainty separates what an engine said from what was concluded.
type Certainty uint8

// The certainties.
const (
	// Announced blocks were stored by the engine's own word.
	Announced Certainty = iota
	// Inferred blocks are probably in a tier that the engine does not announce.
	Inferred
	// Possible blocks are candidates for an announcement whose position is unknown.
	Possible
)

// GroupKind says which blocks of a group a reused prefix needs.
type GroupKind uint8

// The kinds of KV cache groups.
const (
	// UnknownGroup needs some of the blocks, but nobody knows which.
	UnknownGroup GroupKind = iota
	// FullGroup needs every block of the prefix.
	FullGroup
	// WindowGroup needs the last ⌈(window−1)/block size⌉ blocks of the prefix, or all when it is shorter.
	WindowGroup
	// CheckpointGroup needs the last block of the prefix.
	CheckpointGroup
)

// Group is one KV cache group of a holder.
type Group struct {
	Index uint32
	Kind  GroupKind
	// SpecKind is the engine's own word for the kind.
	SpecKind string
	// Window in tokens, for WindowGroup.
	Window    uint32
	BlockSize uint32
}

// Scope is the identity of blocks inside one holder's model and hash scheme.
type Scope struct {
	Adapter   string
	BlockSize uint32
	// Salted chains start from a salt. The salt itself is in the hashes.
	Salted bool
}

// Op is the kind of a Change.
type Op uint8

// The kinds of changes, with the fields of Change that each reads.
const (
	// DeclareScope gives number ScopeID to Scope.
	DeclareScope Op = iota
	// DeclareGroup adds or replaces Group.
	DeclareGroup
	// Store adds consecutive blocks: ScopeID, GroupIndex, Tier, Certainty, Parent, HasParent, Depth, Hashes.
	Store
	// Remove takes blocks out: ScopeID, GroupIndex, Tier, Certainty, Hashes.
	Remove
	// Clear takes out everything that the holder has.
	Clear
	// SetConfidence replaces the holder's Confidence.
	SetConfidence
)

// Change is one step of a delta or of a snapshot. Hashes is only read during the call.
type Change struct {
	Op         Op
	ScopeID    uint32
	Scope      Scope
	Group      Group
	GroupIndex uint32
	Tier       Tier
	Certainty  Certainty
	// Parent is the hash of the block before the first one.
	Parent    uint64
	HasParent bool
	// Depth is the position of the first block in its chain, from 0.
	Depth      uint32
	Hashes     []uint64
	Confidence Confidence
}

// Limits of what one holder may declare; they bound what a broken client can cost.
const (
	maxScopes    = 4096
	maxGroups    = 64
	maxBlockSize = 1 << 20
	maxDepth     = 1 << 24
)

var errInvalid = errors.New("invalid change")

// check refuses a change that cannot be applied. declared says which scopes and
// groups are known, including those declared earlier in the same delta.
func (c *Change) check(declared *declarations) error {
	switch c.Op {
	case DeclareScope:
		return declared.addScope(c.ScopeID, c.Scope)
	case DeclareGroup:
		return declared.addGroup(c.Group)
	case Store, Remove:
		return c.checkBlocks(declared)
	case Clear, SetConfidence:
		return nil
	}
	return fmt.Errorf("%w: unknown kind %d", errInvalid, c.Op)
}

func (c *Change) checkBlocks(declared *declarations) error {
	scope, ok := declared.scopes[c.ScopeID]
	if !ok {
		return fmt.Errorf("%w: scope %d was not declared", errInvalid, c.ScopeID)
	}
	group, ok := declared.groups[c.GroupIndex]
	if !ok {
		return fmt.Errorf("%w: group %d was not declared", errInvalid, c.GroupIndex)
	}
	if group.BlockSize != scope.BlockSize {
		return fmt.Errorf("%w: group %d has blocks of %d tokens, scope %d of %d", errInvalid, c.GroupIndex, group.BlockSize, c.ScopeID, scope.BlockSize)
	}
	if c.Tier > T3 || c.Certainty > Possible {
		return fmt.Errorf("%w: tier %d, certainty %d", errInvalid, c.Tier, c.Certainty)
	}
	if uint64(c.Depth)+uint64(len(c.Hashes)) > maxDepth {
		return fmt.Errorf("%w: a chain of more than %d blocks", errInvalid, maxDepth)
	}
	if c.Op == Store && c.HasParent != (c.Depth > 0) {
		return fmt.Errorf("%w: a block at depth %d with parent given: %t", errInvalid, c.Depth, c.HasParent)
	}
	return nil
}

// mask is the bit of a (tier, certainty) in a residency.
func (c *Change) mask() uint16 {
	tier := max(c.Tier, T1)
	return 1 << (uint(c.Certainty)*3 + uint(tier) - 1)
}

// Masks of residencies by certainty.
const (
	announcedMask uint16 = 0o007
	inferredMask  uint16 = 0o070
	possibleMask  uint16 = 0o700
)
