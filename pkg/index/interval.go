/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// interval says that a unit has the blocks start to end−1 of a run, in the tiers
// and certainties of mask. The intervals of a run are sorted by unit and start;
// those of one unit do not overlap, and neighbours differ. From the top: 25 bits
// of unit, 15 of start, 15 of end−1, 9 of mask, so that they sort as numbers.
type interval = uint64

const (
	unitShift  = 39
	startShift = 24
	endShift   = 9
	offsetMask = maxRun - 1
	maskMask   = 1<<9 - 1
)

// kids is the unit of the intervals that count the runs which continue the block
// at start; their lower 24 bits are that number. They keep the block, and sort
// behind every real unit.
const (
	kids     = 1<<25 - 1
	kidsMask = 1<<startShift - 1
)

func intervalOf(unit uint32, start, end, mask uint16) interval {
	return uint64(unit)<<unitShift | uint64(start)<<startShift | uint64(end-1)<<endShift | uint64(mask)
}

func unitOf(iv interval) uint32 { return uint32(iv >> unitShift) }

func startOf(iv interval) uint16 { return uint16(iv>>startShift) & offsetMask }

// endOf is the end of what an interval keeps.
func endOf(iv interval) uint16 {
	if unitOf(iv) == kids {
		return startOf(iv) + 1
	}
	return uint16(iv>>endShift)&offsetMask + 1
}

func maskOf(iv interval) uint16 { return uint16(iv) & maskMask }

// search returns the first of some intervals that is not below a word.
func search(list []interval, word uint64) int {
	low, high := 0, len(list)
	for low < high {
		if middle := int(uint(low+high) >> 1); list[middle] < word {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// touching returns those intervals of a unit that lie in the blocks from start to
// end−1 or end or begin right beside them.
func touching(list []interval, unit uint32, start, end uint16) (low, high int) {
	low = search(list, uint64(unit)<<unitShift|uint64(start)<<startShift)
	if low > 0 && unitOf(list[low-1]) == unit && endOf(list[low-1]) >= start {
		low--
	}
	if end >= offsetMask {
		return low, search(list, uint64(unit+1)<<unitShift)
	}
	return low, search(list, uint64(unit)<<unitShift|uint64(end+1)<<startShift)
}

// mask returns what a unit has of one block.
func (a *arena) mask(r *run, unit uint32, offset uint16) uint16 {
	list := a.list(r.load())
	low, high := touching(list, unit, offset, offset+1)
	for _, iv := range list[low:high] {
		if startOf(iv) <= offset && offset < endOf(iv) {
			return maskOf(iv)
		}
	}
	return 0
}

// addMasks adds what a unit has of the blocks from start on to masks.
func (a *arena) addMasks(masks []uint16, r *run, unit uint32, start uint16) {
	list := a.list(r.load())
	end := start + uint16(len(masks))
	low, high := touching(list, unit, start, end)
	for _, iv := range list[low:high] {
		for offset := max(start, startOf(iv)); offset < min(end, endOf(iv)); offset++ {
			masks[offset-start] |= maskOf(iv)
		}
	}
}

// end is the number of blocks that somebody has or that something continues.
func (a *arena) end(r *run) uint16 {
	end := uint16(0)
	for _, iv := range a.list(r.load()) {
		end = max(end, endOf(iv))
	}
	return end
}

// countKids changes the number of runs that continue a block, by one up or down.
// A number that has reached the largest there is room for stays.
func (a *arena) countKids(r *run, offset uint16, by int) {
	list := a.list(r.load())
	i := search(list, kids<<unitShift|uint64(offset)<<startShift)
	if i < len(list) && startOf(list[i]) == offset {
		a.addKids(r, i, list[i], by)
		return
	}
	a.splice(r, i, i, []interval{kids<<unitShift | uint64(offset)<<startShift | uint64(by)})
}

func (a *arena) addKids(r *run, i int, iv interval, by int) {
	n := int(iv & kidsMask)
	switch {
	case n == kidsMask:
		return
	case n+by == 0:
		a.splice(r, i, i+1, nil)
	default:
		a.splice(r, i, i+1, []interval{iv&^kidsMask | uint64(n+by)})
	}
}
