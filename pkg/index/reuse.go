/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// rules are what one holder's groups demand of a prompt, with what the scan
// found in each of them.
type rules struct {
	full    []fullRule
	partial []partialRule
	// limit in tokens of the chains that were scanned.
	limit int
	// step is the least common multiple of the block sizes: reuse ends there.
	step      int
	blockSize int
	// unchecked groups have blocks of a size in which the prompt was not given.
	unchecked bool
}

// fullRule demands the blocks 0 to n−1.
type fullRule struct {
	reach *reach
	size  int
}

// partialRule demands the last need blocks before n, or all of them when there
// are fewer. A group whose rule is not known is surely satisfied by all blocks,
// and may be satisfied by none of them (unsure).
type partialRule struct {
	masks  []uint16
	size   int
	need   int
	unsure bool
}

// rules collects the groups of a holder that live in this family.
func (sc *scratch) rules(f *family, s *Session) rules {
	r := rules{step: 1}
	first := true
	for _, g := range s.current.declared.groups {
		size := int(g.BlockSize)
		d := f.directories[g.BlockSize]
		length, scanned := sc.lengths[d]
		if d != nil && !scanned {
			r.unchecked = true
			continue
		}
		u := s.current.units[unitKey{d, g.Index}]
		if g.Kind == FullGroup {
			r.full = append(r.full, fullRule{reach: sc.reach(d, u), size: size})
		} else {
			r.partial = append(r.partial, partialRule{masks: sc.masks(u, length), size: size, need: g.need(), unsure: g.unsure()})
		}
		if first || length*size < r.limit {
			r.limit, first = length*size, false
		}
		r.step = lcm(r.step, size)
		if r.blockSize == 0 || size < r.blockSize {
			r.blockSize = size
		}
	}
	return r
}

// unsure reports whether the group's rule is not known: its kind is not, or the
// engine did not announce the window.
func (g Group) unsure() bool {
	return g.Kind == UnknownGroup || (g.Kind == WindowGroup && g.Window == 0)
}

// need is the number of blocks before the end of a prefix that a partial group
// must hold. vLLM's sliding window manager asks for ⌈(window−1)/block⌉: the token
// after the prefix attends to the window−1 tokens before it.
func (g Group) need() int {
	switch {
	case g.Kind == CheckpointGroup:
		return 1
	case g.unsure():
		return maxDepth
	}
	return (int(g.Window) - 1 + int(g.BlockSize) - 1) / int(g.BlockSize)
}

// reusable returns the most tokens for which every rule holds, counting blocks
// with a bit of mask. level is the index of the mask in reach.depth.
func (r *rules) reusable(mask uint16, level int) int {
	tokens := r.limit
	for _, f := range r.full {
		tokens = min(tokens, f.reach.depth[level]*f.size)
	}
	tokens -= tokens % r.step
	for tokens > 0 {
		next := tokens
		for i := range r.partial {
			p := &r.partial[i]
			if p.unsure && mask&possibleMask != 0 {
				continue
			}
			if next = p.lower(tokens, mask); next < tokens {
				break
			}
		}
		if next == tokens {
			return tokens
		}
		tokens = next - next%r.step
	}
	return 0
}

// lower returns tokens when the rule holds there, else the largest smaller
// number at which the block that is missing is no longer needed.
func (p *partialRule) lower(tokens int, mask uint16) int {
	end := tokens / p.size
	for i := end - 1; i >= max(0, end-p.need); i-- {
		if p.masks[i]&mask == 0 {
			return i * p.size
		}
	}
	return tokens
}

// coldest returns the coldest tier that serves a prefix.
func (r *rules) coldest(tokens int) Tier {
	tier := T1
	for _, f := range r.full {
		switch n := tokens / f.size; {
		case n > f.reach.warm[1]:
			return T3
		case n > f.reach.warm[0]:
			tier = T2
		}
	}
	for _, p := range r.partial {
		end := tokens / p.size
		for i := max(0, end-p.need); i < end && !p.unsure; i++ {
			tier = max(tier, bestTier(p.masks[i]))
		}
	}
	return tier
}

// bestTier is the nearest tier of a residency; one without a tier counts as T1.
func bestTier(mask uint16) Tier {
	bits := tierBits(mask)
	switch {
	case bits&1 != 0 || bits == 0:
		return T1
	case bits&2 != 0:
		return T2
	}
	return T3
}

func lcm(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
