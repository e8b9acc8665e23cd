/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// pool hands out spans of elements from large chunks. Elements hold no pointers,
// so the garbage collector has nothing to follow, whatever the pool holds.
type pool[T any] struct {
	chunks [][]T
	// next is the first element that was never handed out.
	next uint32
	// free has the spans of each class that came back.
	free [poolClasses][]uint32
	// live counts the elements of the spans that are handed out.
	live int
}

const (
	// chunkBits makes chunks of 65,536 elements: large enough that a pool of ten
	// million elements has few of them, small enough that a new one costs little.
	chunkBits = 16
	chunkSize = 1 << chunkBits
	// poolClasses are the sizes 1, 2, 3, 4, 6, 8, 12 … 65,536. Two classes for
	// each power of two waste a sixth of a span on average.
	poolClasses = 2 * chunkBits
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
	if used := int(p.next % chunkSize); used+size > chunkSize {
		p.next += uint32(chunkSize - used)
	}
	if int(p.next/chunkSize) == len(p.chunks) {
		p.chunks = append(p.chunks, make([]T, chunkSize))
	}
	start := p.next
	p.next += uint32(size)
	return start
}

// give takes a span back.
func (p *pool[T]) give(start uint32, class uint8) {
	p.live -= classSize(class)
	p.free[class] = append(p.free[class], start)
}

// at returns n elements from start on, all in one span.
func (p *pool[T]) at(start uint32, n int) []T {
	offset := int(start % chunkSize)
	return p.chunks[start/chunkSize][offset : offset+n : offset+n]
}

// resize moves the first n elements of a span to one with room for want
// elements, and returns it. A span that has the room stays.
func (p *pool[T]) resize(start uint32, class uint8, n, want int) (uint32, uint8) {
	if classSize(class) >= want {
		return start, class
	}
	larger := classFor(want)
	moved := p.take(larger)
	copy(p.at(moved, n), p.at(start, n))
	p.give(start, class)
	return moved, larger
}
