/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "sync/atomic"

// pool hands out spans of elements from large chunks. Elements hold no pointers,
// so the garbage collector has nothing to follow, whatever the pool holds. One
// writer takes and gives; readers may look at any element at any time, also at
// one that has another owner by now, so elements are written atomically.
type pool[T any] struct {
	// chunks are replaced as a whole when one is added, and never taken away.
	chunks atomic.Pointer[[][]T]
	// next is the first element that was never handed out.
	next uint32
	// free has the spans of each class that came back.
	free [poolClasses][]uint32
	// live counts the elements of the spans that are handed out.
	live int
}

const (
	// chunkBits makes chunks of 8,192 elements: few for a pool of ten million, and
	// little memory that is touched for the first time by one change.
	chunkBits = 13
	chunkSize = 1 << chunkBits
	// poolClasses are the sizes 1, 2, 3, 4, 6, 8, 12 … 3·2^24. Two classes for
	// each power of two waste a sixth of a span on average. A span that is larger
	// than a chunk has one of its own.
	poolClasses = 52
)

// classSize returns the number of elements in a span of a class.
func classSize(class uint8) int {
	switch {
	case class == 0:
		return 1
	case class%2 == 1:
		return 2 << (class / 2)
	}
	return 3 << (class/2 - 1)
}

// classFor returns the smallest class that has room for n elements, n ≥ 1.
func classFor(n int) uint8 {
	class := uint8(0)
	for classSize(class) < n {
		class++
	}
	return class
}

// take hands out a span. Its elements have the values of whoever had it before.
func (p *pool[T]) take(class uint8) uint32 {
	size := classSize(class)
	p.live += size
	if free := p.free[class]; len(free) > 0 {
		p.free[class] = free[:len(free)-1]
		return free[len(free)-1]
	}
	if used := int(p.next % chunkSize); used > 0 && used+size > chunkSize {
		p.next += uint32(chunkSize - used)
	}
	p.reserve(size)
	start := p.next
	p.next += uint32((size + chunkSize - 1) / chunkSize * chunkSize)
	if size < chunkSize {
		p.next = start + uint32(size)
	}
	return start
}

// reserve makes sure that the chunk of the next span is there. A span larger than
// a chunk begins one that has its size; the numbers it covers have no other chunk.
func (p *pool[T]) reserve(size int) {
	var chunks [][]T
	if old := p.chunks.Load(); old != nil {
		chunks = *old
	}
	first := int(p.next / chunkSize)
	if first < len(chunks) {
		return
	}
	grown := make([][]T, len(chunks), first+(size+chunkSize-1)/chunkSize)
	copy(grown, chunks)
	chunk := make([]T, max(size, chunkSize))
	for len(grown) < cap(grown) {
		grown = append(grown, chunk)
		chunk = nil
	}
	p.chunks.Store(&grown)
}

// give takes a span back.
func (p *pool[T]) give(start uint32, class uint8) {
	p.live -= classSize(class)
	p.free[class] = append(p.free[class], start)
}

// at returns n elements from start on, all in one span.
func (p *pool[T]) at(start uint32, n int) []T {
	offset := int(start % chunkSize)
	return (*p.chunks.Load())[start/chunkSize][offset : offset+n : offset+n]
}

// rest returns the elements from start to the end of their chunk, for readers who
// do not know how many belong together.
func (p *pool[T]) rest(start uint32) []T {
	return (*p.chunks.Load())[start/chunkSize][start%chunkSize:]
}

// storeWords writes the words that differ one by one, last first when they move
// up in place.
func storeWords(to, from []uint64, up bool) {
	for i := range from {
		if up {
			i = len(from) - 1 - i
		}
		if to[i] != from[i] {
			atomic.StoreUint64(&to[i], from[i])
		}
	}
}
