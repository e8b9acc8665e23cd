/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"fmt"
	"slices"

	"inferencecache.io/inference-cache/pkg/fingerprint"
)

// placeKey is one set of the reference: what a holder has in one place.
type placeKey struct {
	Scope, Group uint32
	Tier         Tier
	Certainty    Certainty
}

// holder is the receiving side in its simplest form: sets of contents, changed as
// the changes say, and a lookup that tries every length.
type holder struct {
	scopes     map[uint32]ScopeDeclared
	groups     map[uint32]GroupDeclared
	places     map[placeKey]map[uint64]bool
	confidence Confidence
}

func newHolder() *holder {
	return &holder{
		scopes: map[uint32]ScopeDeclared{},
		groups: map[uint32]GroupDeclared{},
		places: map[placeKey]map[uint64]bool{},
	}
}

// apply takes changes and reports the first one that contradicts the state.
func (h *holder) apply(changes []Change) error {
	for _, change := range changes {
		if err := h.applyOne(change); err != nil {
			return err
		}
	}
	return nil
}

func (h *holder) applyOne(change Change) error {
	switch c := change.(type) {
	case ScopeDeclared:
		h.scopes[c.ID] = c
	case GroupDeclared:
		h.groups[c.Index] = c
	case Cleared:
		clear(h.places)
	case ConfidenceChanged:
		h.confidence = c.Confidence
	case Stored:
		return h.stored(c)
	case Removed:
		place := h.places[placeKey{c.Scope, c.Group, c.Tier, c.Certainty}]
		for _, hash := range c.Hashes {
			if !place[hash] {
				return fmt.Errorf("removed %x of group %d tier %d certainty %d, which is not there", hash, c.Group, c.Tier, c.Certainty)
			}
			delete(place, hash)
		}
		if len(place) == 0 {
			delete(h.places, placeKey{c.Scope, c.Group, c.Tier, c.Certainty})
		}
	}
	return nil
}

func (h *holder) stored(c Stored) error {
	also := c.Also
	c.Also = nil
	for _, p := range also {
		other := c
		other.Group, other.Tier, other.Certainty = p.Group, p.Tier, p.Certainty
		if err := h.stored(other); err != nil {
			return err
		}
	}
	if _, ok := h.scopes[c.Scope]; !ok {
		return fmt.Errorf("scope %d is not declared", c.Scope)
	}
	if _, ok := h.groups[c.Group]; !ok {
		return fmt.Errorf("group %d is not declared", c.Group)
	}
	if c.Parent.Present != (c.Depth > 0) {
		return fmt.Errorf("depth %d with parent %v", c.Depth, c.Parent)
	}
	key := placeKey{c.Scope, c.Group, c.Tier, c.Certainty}
	if h.places[key] == nil {
		h.places[key] = map[uint64]bool{}
	}
	for _, hash := range c.Hashes {
		for certainty := Announced; certainty <= Possible; certainty++ {
			if h.places[placeKey{c.Scope, c.Group, c.Tier, certainty}][hash] {
				return fmt.Errorf("stored %x of group %d tier %d twice", hash, c.Group, c.Tier)
			}
		}
		h.places[key][hash] = true
	}
	return nil
}

// prompt is a question: how much of it will be reused?
type prompt struct {
	adapter, salt string
	tokens        []uint32
}

// lookup returns the number of tokens reused, and whether that is exact.
func (h *holder) lookup(p prompt) (tokens int, exact bool) {
	exact = true
	for _, scope := range h.scopes {
		if scope.Adapter != p.adapter || scope.Salted != (p.salt != "") {
			continue
		}
		size := int(scope.BlockSize)
		chain := fingerprint.Chain(nil, fingerprint.SaltParent(p.salt), p.tokens, size)
		chain = chain[:min(len(chain), (len(p.tokens)-1)/size)]
		certain := h.longest(scope.ID, chain, size, false)
		possible := h.longest(scope.ID, chain, size, true)
		exact = exact && certain == possible
		tokens = max(tokens, certain*size)
	}
	return tokens, exact
}

// longest tries every length from the longest.
func (h *holder) longest(scope uint32, chain []uint64, size int, possible bool) int {
	for n := len(chain); n > 0; n-- {
		if h.reusable(scope, chain[:n], size, possible) {
			return n
		}
	}
	return 0
}

// reusable says whether every group holds what it must for a prefix.
func (h *holder) reusable(scope uint32, chain []uint64, size int, possible bool) bool {
	for _, group := range h.groups {
		first := 0
		switch group.Kind {
		case GroupWindow:
			first = max(0, len(chain)-(int(group.Window)-1+size-1)/size)
		case GroupCheckpoint:
			first = len(chain) - 1
		}
		for _, hash := range chain[first:] {
			if !h.holds(scope, group.Index, hash, possible) {
				return false
			}
		}
	}
	return true
}

func (h *holder) holds(scope, group uint32, hash uint64, possible bool) bool {
	certainties := []Certainty{Announced, Inferred}
	if possible {
		certainties = append(certainties, Possible)
	}
	return slices.ContainsFunc([]Tier{T1, T2, T3}, func(tier Tier) bool {
		return slices.ContainsFunc(certainties, func(certainty Certainty) bool {
			return h.places[placeKey{scope, group, tier, certainty}][hash]
		})
	})
}
