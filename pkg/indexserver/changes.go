/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"encoding/binary"
	"errors"
	"fmt"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// Bounds of one message of changes. Its hashes are bounded by its size.
const (
	maxChanges = 1 << 16
	// maxRepeated is the number of hashes of a message that are repeated for further
	// places, and maxAlso the number of those places in all stores: what a few bytes
	// ask for is work as well.
	maxRepeated = 1 << 18
	maxAlso     = 1 << 16
	// keptHashes is how much memory for hashes a stream keeps between messages.
	keptHashes = 1 << 14
)

// changeReader turns changes into the index's form. What it returns is valid
// until its next use: a stream of deltas then allocates nothing per delta.
type changeReader struct {
	changes []index.Change
	hashes  []uint64
}

// read checks and converts the changes of one message; field is their path.
func (r *changeReader) read(field string, in []*pb.Change) ([]index.Change, error) {
	if len(in) > maxChanges {
		return nil, invalid(field, "%d changes, at most %d are taken at a time", len(in), maxChanges)
	}
	words, also, repeated := 0, 0, 0
	for i, c := range in {
		hashes := len(packedHashes(c))
		if hashes%fingerprint.WireSize != 0 {
			return nil, invalid(fmt.Sprintf("%s[%d].%s.hashes", field, i, nameOf(c)), "%d bytes, want a multiple of %d", hashes, fingerprint.WireSize)
		}
		words += hashes / fingerprint.WireSize
		places := len(c.GetStore().GetAlso())
		also += places
		repeated += places * hashes / fingerprint.WireSize
	}
	if also > maxAlso || repeated > maxRepeated {
		return nil, invalid(field, "%d further places with %d hashes, at most %d with %d are taken at a time", also, repeated, maxAlso, maxRepeated)
	}
	r.reserve(words)
	for i, c := range in {
		out, err := r.change(c)
		if err != nil {
			return nil, invalid(fmt.Sprintf("%s[%d].%s", field, i, nameOf(c)), "%s", err)
		}
		r.changes = append(r.changes, out)
		if err := r.repeat(out, c.GetStore().GetAlso()); err != nil {
			return nil, invalid(fmt.Sprintf("%s[%d].store.also", field, i), "%s", err)
		}
	}
	return r.changes, nil
}

// repeat adds a store again for every further place that has the same blocks.
func (r *changeReader) repeat(store index.Change, also []*pb.Place) error {
	for _, p := range also {
		var err error
		if store.Tier, store.Certainty, err = placeOf(p.GetTier(), p.GetCertainty()); err != nil {
			return err
		}
		store.GroupIndex = p.GetGroup()
		r.changes = append(r.changes, store)
	}
	return nil
}

// reserve makes room for all hashes of a message at once, because the changes
// refer to parts of it. What an unusually large message took is given back.
func (r *changeReader) reserve(words int) {
	if cap(r.hashes) < words || (cap(r.hashes) > keptHashes && words <= keptHashes) {
		r.hashes = make([]uint64, 0, words)
	}
	r.changes, r.hashes = r.changes[:0], r.hashes[:0]
}

func (r *changeReader) change(c *pb.Change) (index.Change, error) {
	switch m := c.GetChange().(type) {
	case *pb.Change_Scope:
		return scopeOf(m.Scope)
	case *pb.Change_Group:
		return groupOf(m.Group)
	case *pb.Change_Store:
		return r.storeOf(m.Store)
	case *pb.Change_Remove:
		return r.removeOf(m.Remove)
	case *pb.Change_Clear:
		return index.Change{Op: index.Clear}, nil
	case *pb.Change_Confidence:
		return confidenceOf(m.Confidence)
	}
	return index.Change{}, errors.New("none of the known kinds is set")
}

func (r *changeReader) storeOf(s *pb.Store) (index.Change, error) {
	tier, certainty, err := placeOf(s.GetTier(), s.GetCertainty())
	return index.Change{
		Op: index.Store, ScopeID: s.GetScope(), GroupIndex: s.GetGroup(), Tier: tier, Certainty: certainty,
		Parent: s.GetParent(), HasParent: s != nil && s.Parent != nil, Depth: s.GetDepth(), Hashes: r.unpack(s.GetHashes()),
	}, err
}

func (r *changeReader) removeOf(s *pb.Remove) (index.Change, error) {
	tier, certainty, err := placeOf(s.GetTier(), s.GetCertainty())
	return index.Change{
		Op: index.Remove, ScopeID: s.GetScope(), GroupIndex: s.GetGroup(), Tier: tier, Certainty: certainty,
		Hashes: r.unpack(s.GetHashes()),
	}, err
}

// unpack reads packed hashes; their length has been checked.
func (r *changeReader) unpack(packed []byte) []uint64 {
	start := len(r.hashes)
	for ; len(packed) >= fingerprint.WireSize; packed = packed[fingerprint.WireSize:] {
		r.hashes = append(r.hashes, binary.BigEndian.Uint64(packed))
	}
	return r.hashes[start:len(r.hashes):len(r.hashes)]
}

func packedHashes(c *pb.Change) []byte {
	if s := c.GetStore(); s != nil {
		return s.GetHashes()
	}
	return c.GetRemove().GetHashes()
}

// nameOf is the name of the field that a change sets.
func nameOf(c *pb.Change) string {
	switch c.GetChange().(type) {
	case *pb.Change_Scope:
		return "scope"
	case *pb.Change_Group:
		return "group"
	case *pb.Change_Store:
		return "store"
	case *pb.Change_Remove:
		return "remove"
	case *pb.Change_Clear:
		return "clear"
	case *pb.Change_Confidence:
		return "confidence"
	}
	return "change"
}
