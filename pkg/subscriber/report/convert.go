/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"encoding/binary"
	"iter"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

// Bounds of one message. The index refuses larger ones.
const (
	// maxHashes is the number of hashes in one message, in all changes together.
	maxHashes = 1 << 16
	// maxBytes is an estimate of the encoded size, with room to the 1 MiB that an
	// index has to take.
	maxBytes = 900 << 10
	// maxChanges is the number of changes in one message. One with further places
	// counts as often.
	maxChanges = 1 << 15
	// changeBytes is the estimate for one change without its hashes.
	changeBytes = 48
	placeBytes  = 8
	hashBytes   = 8
)

// packer cuts changes into messages of bounded size.
type packer struct {
	// yield takes a finished message; it returns false when no more are wanted.
	yield   func([]*pb.Change) bool
	ended   bool
	current []*pb.Change
	hashes  int
	steps   int
	bytes   int
}

// pack converts changes into as many messages as it takes, at least one. Each is
// made when it is asked for.
func pack(changes []mirror.Change) iter.Seq[[]*pb.Change] {
	return func(yield func([]*pb.Change) bool) {
		p := packer{yield: yield}
		for _, change := range changes {
			if p.add(change); p.ended {
				return
			}
		}
		yield(p.current)
	}
}

func (p *packer) cut() {
	p.ended = p.ended || !p.yield(p.current)
	p.current, p.hashes, p.steps, p.bytes = nil, 0, 0, 0
}

// put adds one change of a size that fits.
func (p *packer) put(change *pb.Change, hashes, extra int) {
	size, steps := changeBytes+extra+hashes*hashBytes, 1+len(change.GetStore().GetAlso())
	if len(p.current) > 0 && (p.bytes+size > maxBytes || p.hashes+hashes > maxHashes || p.steps+steps > maxChanges) {
		p.cut()
	}
	p.current = append(p.current, change)
	p.hashes += hashes
	p.steps += steps
	p.bytes += size
}

func (p *packer) add(change mirror.Change) {
	switch c := change.(type) {
	case mirror.ScopeDeclared:
		p.put(&pb.Change{Change: &pb.Change_Scope{Scope: &pb.Scope{
			Id: c.ID, AdapterId: c.Adapter, BlockSize: c.BlockSize, Salted: c.Salted,
		}}}, 0, len(c.Adapter))
	case mirror.GroupDeclared:
		p.put(&pb.Change{Change: &pb.Change_Group{Group: &pb.Group{
			Index: c.Index, Kind: pb.GroupKind(c.Kind), SpecKind: c.SpecKind, Window: c.Window, BlockSize: c.BlockSize,
		}}}, 0, len(c.SpecKind))
	case mirror.Stored:
		p.addStored(c)
	case mirror.Removed:
		p.addRemoved(c)
	case mirror.Cleared:
		p.put(&pb.Change{Change: &pb.Change_Clear{Clear: &pb.Clear{}}}, 0, 0)
	case mirror.ConfidenceChanged:
		p.put(&pb.Change{Change: &pb.Change_Confidence{Confidence: &pb.Confidence{
			Conflicts: c.Conflicts, Unresolved: c.Unresolved, Unbounded: c.Unbounded, Degraded: c.Degraded,
		}}}, 0, len(c.Degraded))
	}
}

// addStored adds a run of blocks, cut where it is too long for one message.
func (p *packer) addStored(c mirror.Stored) {
	parent, depth, places := c.Parent, c.Depth, 1+len(c.Also)
	for hashes := c.Hashes; len(hashes) > 0 && !p.ended; {
		// A hash counts for every place, because it is as much work.
		n := min(len(hashes), max(1, maxHashes/places))
		store := &pb.Store{
			Scope: c.Scope, Group: c.Group, Tier: pb.CacheTier(c.Tier), Certainty: pb.Certainty(c.Certainty),
			Depth: depth, Hashes: packHashes(hashes[:n]), Also: packPlaces(c.Also),
		}
		if parent.Present {
			hash := parent.Hash
			store.Parent = &hash
		}
		p.put(&pb.Change{Change: &pb.Change_Store{Store: store}}, n*places, len(c.Also)*placeBytes)
		parent.Hash, parent.Present = hashes[n-1], true
		depth += uint32(n)
		hashes = hashes[n:]
	}
}

func (p *packer) addRemoved(c mirror.Removed) {
	for hashes := c.Hashes; len(hashes) > 0 && !p.ended; {
		n := min(len(hashes), maxHashes)
		p.put(&pb.Change{Change: &pb.Change_Remove{Remove: &pb.Remove{
			Scope: c.Scope, Group: c.Group, Tier: pb.CacheTier(c.Tier), Certainty: pb.Certainty(c.Certainty),
			Hashes: packHashes(hashes[:n]),
		}}}, n, 0)
		hashes = hashes[n:]
	}
}

// packPlaces returns places in their form on the wire.
func packPlaces(places []mirror.Place) []*pb.Place {
	var packed []*pb.Place
	for _, p := range places {
		packed = append(packed, &pb.Place{Group: p.Group, Tier: pb.CacheTier(p.Tier), Certainty: pb.Certainty(p.Certainty)})
	}
	return packed
}

// packHashes returns hashes as consecutive words on the wire.
func packHashes(hashes []uint64) []byte {
	packed := make([]byte, 0, len(hashes)*hashBytes)
	for _, hash := range hashes {
		packed = binary.BigEndian.AppendUint64(packed, hash)
	}
	return packed
}

// sizeOf estimates the memory of a delta.
func sizeOf(delta *pb.Delta) int {
	size := changeBytes
	for _, change := range delta.GetChanges() {
		size += 2*changeBytes + len(change.GetStore().GetHashes()) + len(change.GetRemove().GetHashes())
	}
	return size
}
