/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// rules are what one holder's groups demand of a prompt, with what the scan
// found in each of them.
type rules struct {
	groups []groupRule
	// limit in tokens of the chains that were scanned.
	limit int
	// step is the least common multiple of the block sizes: reuse ends there.
	step      int
	blockSize int
	// unchecked groups have blocks of a size in which the prompt was not given.
	unchecked bool
	// doubted rules rest on blocks that were not announced, or are not known;
	// cold ones on blocks outside T1.
	doubted, cold bool
}

// groupRule is what one group demands. A full group needs the blocks 0 to n−1,
// another one the last need blocks before n, or all of them when there are fewer.
// A group whose rule is not known is surely satisfied by all blocks, and may be
// satisfied by none of them (unsure).
type groupRule struct {
	full, unsure bool
	size         int
	need         int32
	// depth of the prefix by certainty, and the last part of what is there.
	depth         [3]int32
	parts, cursor int32
}

// plan is what a group demands, worked out when it is declared.
type plan struct {
	Group
	need   int
	unsure bool
}

func (g Group) plan() plan { return plan{g, g.need(), g.unsure()} }

func planOf(groups []Group) []plan {
	plans := make([]plan, len(groups))
	for i, g := range groups {
		plans[i] = g.plan()
	}
	return plans
}

// begin notes a unit of a group of which nothing was read yet.
func (m *member) begin(p *plan, groups int32) {
	m.last, m.next, m.group, m.need, m.groups = none, none, p.Index, int32(p.need), groups
	m.full, m.doubted, m.cold = p.Kind == FullGroup, p.unsure, false
}

// memberOf is what there is of a reach whose unit is not alone.
func (sc *scratch) memberOf(at int32) *member { return &sc.members[sc.reaches[at].member] }

// rules collects the groups of a holder that live in this family. from is the
// first of the holder's reaches.
func (sc *scratch) rules(f *family, plans []plan, from int32) rules {
	r := rules{groups: sc.rule[:0], step: 1, limit: -1}
	for i := range plans {
		g := &plans[i]
		size := int(g.BlockSize)
		rule := groupRule{full: g.Kind == FullGroup, unsure: g.unsure, size: size, need: int32(g.need), parts: none}
		blocks, scanned := 0, false
		for at := from; at != none; at = sc.memberOf(at).next {
			c, m := &sc.reaches[at], sc.memberOf(at)
			p := &sc.prompts[c.prompt]
			if m.group != g.Index || int(p.directory.blockSize) != size {
				continue
			}
			rule.depth, rule.parts, blocks, scanned = c.depth, m.last, len(p.hashes), true
			r.doubted, r.cold = r.doubted || m.doubted, r.cold || m.cold
		}
		if !scanned {
			d := f.directory(g.BlockSize)
			if blocks, scanned = sc.scanned(d); d != nil && !scanned {
				r.unchecked = true
				continue
			}
		}
		r.groups = append(r.groups, rule)
		r.doubted = r.doubted || g.unsure
		if n := blocks * size; r.limit < 0 || n < r.limit {
			r.limit = n
		}
		if r.step != size {
			r.step = lcm(r.step, size)
		}
		if r.blockSize == 0 || size < r.blockSize {
			r.blockSize = size
		}
	}
	sc.rule = r.groups
	return r
}

// unsure reports whether the group's rule is not known: its kind is not, or the
// engine did not announce the window.
func (g Group) unsure() bool {
	return g.Kind == UnknownGroup || (g.Kind == WindowGroup && g.Window == 0)
}

// need is the number of blocks before the end of a prefix that a group which is
// not full must hold. vLLM's sliding window manager asks for ⌈(window−1)/block⌉:
// the token after the prefix attends to the window−1 tokens before it.
func (g Group) need() int {
	switch {
	case g.Kind == CheckpointGroup:
		return 1
	case g.unsure() || g.Kind == FullGroup:
		return maxDepth
	}
	return (int(g.Window) - 1 + int(g.BlockSize) - 1) / int(g.BlockSize)
}

// reusable returns the most tokens for which every rule holds, counting blocks
// with a bit of mask. level is the index of the mask in groupRule.depth.
func (sc *scratch) reusable(r *rules, mask uint16, level int) int {
	tokens := max(0, r.limit)
	for i := range r.groups {
		g := &r.groups[i]
		g.cursor = g.parts
		if g.full {
			tokens = min(tokens, int(g.depth[level])*g.size)
		}
	}
	tokens -= tokens % r.step
	for tokens > 0 {
		next := tokens
		for i := range r.groups {
			g := &r.groups[i]
			if g.full || (g.unsure && mask&possibleMask != 0) {
				continue
			}
			if next = int(sc.lower(&g.cursor, int32(tokens/g.size), g.need, mask)) * g.size; next < tokens {
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

// lower returns end when the need blocks before it are there, else the largest
// smaller end for which the block that is missing is no longer needed. The parts go
// back from the one given, which moves on when parts lie behind every end that can
// still be asked for.
func (sc *scratch) lower(parts *int32, end, need int32, mask uint16) int32 {
	for *parts != none && (sc.parts[*parts].start >= end || sc.parts[*parts].mask&mask == 0) {
		*parts = sc.parts[*parts].before
	}
	if need >= end {
		return sc.unbroken(*parts, end, mask)
	}
	if need == 0 {
		return end
	}
	if *parts == none {
		return 0
	}
	if last := sc.parts[*parts].end; last < end {
		return last
	}
	// missing is the end of the blocks that were not seen yet, last first.
	missing := sc.parts[*parts].start
	for at := sc.parts[*parts].before; at != none && missing > end-need; at = sc.parts[at].before {
		switch p := &sc.parts[at]; {
		case p.mask&mask == 0:
		case p.end < missing:
			return missing - 1
		default:
			missing = p.start
		}
	}
	if missing > end-need {
		return missing - 1
	}
	return end
}

// unbroken returns the number of blocks, up to end, before the first that is missing.
func (sc *scratch) unbroken(parts, end int32, mask uint16) int32 {
	// From seen on, up to the first that is missing behind it, all are there.
	seen, missing := end, end
	for at := parts; at != none; at = sc.parts[at].before {
		p := &sc.parts[at]
		if p.mask&mask == 0 {
			continue
		}
		if p.end < seen {
			missing = p.end
		}
		seen = p.start
	}
	if seen > 0 {
		return 0
	}
	return missing
}

// simple is the answer for a holder all of whose groups were met in one directory
// with announced blocks in T1, which is the rule for engines with several groups:
// the blocks that it reuses. It reports false for any other holder.
func (sc *scratch) simple(from int32) (blocks int32, ok bool) {
	prompt, groups := sc.reaches[from].prompt, sc.memberOf(from).groups
	blocks = int32(len(sc.prompts[prompt].hashes))
	for at := from; at != none; at = sc.memberOf(at).next {
		r, m := &sc.reaches[at], sc.memberOf(at)
		if m.doubted || m.cold || r.prompt != prompt {
			return 0, false
		}
		if m.full {
			blocks = min(blocks, r.depth[0])
		}
		groups--
	}
	if groups != 0 {
		return 0, false
	}
	for before := int32(none); before != blocks && blocks > 0; {
		before = blocks
		for at := from; at != none; at = sc.memberOf(at).next {
			if m := sc.memberOf(at); !m.full {
				blocks = min(blocks, sc.lower(&m.last, blocks, m.need, announcedMask))
			}
		}
	}
	return blocks, true
}

// tiers returns the blocks of a prefix by the nearest tier that has them, in blocks
// of the smallest size: the group with the most cold blocks decides.
func (sc *scratch) tiers(r *rules, tokens int) (tiers [3]int32) {
	if !r.cold {
		return [3]int32{int32(tokens / r.blockSize), 0, 0}
	}
	for i := range r.groups {
		g := &r.groups[i]
		if g.unsure {
			continue
		}
		cold := [3]int32{}
		end := int32(tokens / g.size)
		first := max(0, end-g.need)
		for at := g.parts; at != none; at = sc.parts[at].before {
			if p := &sc.parts[at]; p.start < end && p.end > first && p.mask&(announcedMask|inferredMask) != 0 {
				cold[bestTier(p.mask)-1] += (min(p.end, end) - max(p.start, first)) * int32(g.size/r.blockSize)
			}
		}
		tiers[1], tiers[2] = max(tiers[1], cold[1]), max(tiers[2], cold[2])
	}
	blocks := int32(tokens / r.blockSize)
	tiers[2] = min(tiers[2], blocks)
	tiers[1] = min(tiers[1], blocks-tiers[2])
	tiers[0] = blocks - tiers[1] - tiers[2]
	return tiers
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
