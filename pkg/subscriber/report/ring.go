/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"

// ring keeps the newest deltas, without holes, within bounds of number and size.
type ring struct {
	deltas []*pb.Delta
	// first is the position of the oldest delta in deltas; what lies before it is
	// free and is reclaimed when it is half of the slice.
	first, bytes       int
	maxCount, maxBytes int
}

// push adds the newest delta and drops the oldest ones until the bounds hold. A
// delta that is larger than all the room leaves the ring empty.
func (r *ring) push(delta *pb.Delta) {
	r.deltas = append(r.deltas, delta)
	r.bytes += sizeOf(delta)
	for r.len() > r.maxCount || r.bytes > r.maxBytes {
		r.bytes -= sizeOf(r.deltas[r.first])
		r.deltas[r.first] = nil
		r.first++
	}
	if r.first > len(r.deltas)/2 {
		n := copy(r.deltas, r.deltas[r.first:])
		clear(r.deltas[n:])
		r.deltas, r.first = r.deltas[:n], 0
	}
}

func (r *ring) len() int { return len(r.deltas) - r.first }

// oldest returns the sequence of the oldest delta, 0 when there is none.
func (r *ring) oldest() uint64 {
	if r.len() == 0 {
		return 0
	}
	return r.deltas[r.first].GetSequence()
}

// from returns up to count deltas, beginning with a sequence that the ring has.
func (r *ring) from(sequence uint64, count int) []*pb.Delta {
	start := r.first + int(sequence-r.oldest())
	end := min(len(r.deltas), start+count)
	return append([]*pb.Delta(nil), r.deltas[start:end]...)
}

func (r *ring) reset() { r.deltas, r.first, r.bytes = nil, 0, 0 }
