/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// reach is how far the unbroken prefix of one unit goes. It is half a cache line:
// a lookup writes one for each unit that has the start of the chain.
type reach struct {
	// unit by its number in the directory of a prompt.
	unit   uint32
	prompt int32
	// depth in blocks, counting announced blocks, also inferred ones, also possible ones.
	depth [3]int32
	// cold are the blocks up to depth[1] whose nearest tier is T2, and T3.
	cold [2]int32
	// member is what else there is of a unit that is not alone, none for others.
	member int32
}

// member is what a lookup notes of a unit whose holder has several groups, or one
// that is not full.
type member struct {
	// last is the last part of what the unit has of the chain.
	last int32
	// next is another reach of the same holder.
	next int32
	// group is the unit's group, and need what that demands: see plan.
	group uint32
	need  int32
	// groups is how many the holder has.
	groups int32
	full   bool
	// doubted members have blocks that were not announced, or an unknown rule; cold
	// ones blocks that are not in T1.
	doubted, cold bool
}

// part is what a unit has of consecutive blocks; before is the part before it.
type part struct {
	start, end int32
	before     int32
	mask       uint16
}

// none ends a list of parts or of reaches.
const none = -1

// step is a run on the way of a lookup, as it was at a version.
type step struct {
	prompt  int32
	number  uint32
	version uint32
	offset  uint16
	layout
}

// prompt is a chain as one directory sees it.
type prompt struct {
	directory *directory
	hashes    []uint64
	// changes is the directory's counter when every block had to be looked at, odd
	// when a path was enough.
	changes uint64
}

// scratch is the working memory of one lookup.
type scratch struct {
	prompts []prompt
	// prompt is the one that is being scanned.
	prompt  int32
	steps   []step
	list    []interval
	reaches []reach
	members []member
	parts   []part
	// marks say which reach a unit of the directory that is being read has, when
	// their turn is the current one. Sessions have marks of their own.
	marks, sessions []mark32
	turn            uint32
	holders         []holderReach
	rule            []groupRule
}

// holderReach is a holder with several groups and the first of its reaches.
type holderReach struct {
	session *Session
	first   int32
}

// mark32 has a meaning in one turn.
type mark32 struct {
	turn uint32
	at   int32
}

func (sc *scratch) reset() {
	sc.prompts, sc.steps, sc.reaches = sc.prompts[:0], sc.steps[:0], sc.reaches[:0]
	sc.members, sc.parts = sc.members[:0], sc.parts[:0]
}

// nextTurn makes every mark meaningless.
func (sc *scratch) nextTurn() {
	if sc.turn++; sc.turn == 0 {
		clear(sc.marks)
		clear(sc.sessions)
		sc.turn = 1
	}
}

// scan finds out what every unit of a directory has of a chain. It reports false
// when the writer was in the way.
func (sc *scratch) scan(d *directory, hashes []uint64) bool {
	sc.nextTurn()
	if n := len(*d.seats.Load()); n > len(sc.marks) {
		sc.marks = append(sc.marks, make([]mark32, n-len(sc.marks))...)
	}
	sc.prompts = append(sc.prompts, prompt{d, hashes, 1})
	sc.prompt = int32(len(sc.prompts) - 1)
	if d.grouped.Load() == 0 || d.adrift.Load() == 0 {
		if end := sc.descend(d, hashes); end != misled {
			return end == done
		}
	}
	return sc.walk(d, hashes)
}

// descent is how a descend ended.
type descent uint8

const (
	done descent = iota
	// disturbed by the writer.
	disturbed
	// misled by a reporter who told a false parent.
	misled
)

// descend finds the deepest known block by bisection, climbs to the start of its
// chain, and reads who holds the runs on the way. That is right because a block
// stays while anything continues it, so that the known blocks of a chain are an
// unbroken prefix of it.
func (sc *scratch) descend(d *directory, hashes []uint64) descent {
	at, deepest, how := d.deepest(hashes)
	switch {
	case how == unsteady:
		return disturbed
	case how == elsewhere:
		return misled
	case at < 0:
		return done
	}
	first, met := len(sc.steps), len(sc.reaches)
	for p, position := deepest, at; p.run != noRun; {
		l, version, steady := d.glance(p.run)
		hash, same := d.peek(place{p.run, 0})
		switch {
		case !steady || !same:
			return disturbed
		case int(l.depth)+int(p.offset) != position || hash != hashes[l.depth]:
			return misled
		}
		sc.steps = append(sc.steps, step{sc.prompt, p.run, version, p.offset, l})
		p, position = place{l.parent, l.parentOffset}, int(l.depth)-1
	}
	for i := len(sc.steps) - 1; i >= first; i-- {
		if !sc.read(&sc.steps[i], 0, sc.steps[i].offset+1, i == len(sc.steps)-1, i == first) {
			return disturbed
		}
	}
	if at+1 < len(hashes) {
		switch _, next := d.probe(hashes, at+1); next {
		case known, unsteady:
			return disturbed
		case elsewhere:
			sc.steps, sc.reaches = sc.steps[:first], sc.reaches[:met]
			sc.nextTurn()
			return misled
		case unknown:
		}
	}
	return done
}

// probe is what the table knows of a block where a chain has it.
type probe uint8

const (
	unknown probe = iota
	known
	// elsewhere: somebody told of it with a position that is not the chain's.
	elsewhere
	// unsteady: the writer was in the way.
	unsteady
)

// climbs bounds the parents that a lookup follows to find out whether a run goes
// back to the start of its chain. Runs know it of themselves, but for those that
// were there before what they continue.
const climbs = 64

// probe looks for the i-th block of a chain.
func (d *directory) probe(hashes []uint64, i int) (place, probe) {
	p, found, steady := d.table.look(hashes[i])
	switch {
	case !steady:
		return p, unsteady
	case !found:
		return p, unknown
	}
	l, _, steady := d.glance(p.run)
	if steady && int(l.depth)+int(p.offset) != i {
		return p, elsewhere
	}
	for n := 0; steady && !l.anchored && l.parent != noRun; n++ {
		if n == climbs {
			return p, elsewhere
		}
		l, _, steady = d.glance(l.parent)
	}
	switch {
	case !steady:
		return p, unsteady
	case l.anchored:
		return p, known
	}
	return p, unknown
}

// deepest bisects for the last block of a chain that is known, −1 for none. A
// conversation's new turn misses near the end, so the search starts there. It is
// unsteady or elsewhere when a probe was.
func (d *directory) deepest(hashes []uint64) (at int, best place, how probe) {
	low, high := -1, len(hashes)
	try := func(i int) bool {
		p, is := d.probe(hashes, i)
		if how = is; is == known {
			low, best = i, p
		} else {
			high = i
		}
		return is == known || is == unknown
	}
	for step := 1; low < 0 && high > 0; step *= 4 {
		if !try(max(0, high-step)) {
			return 0, place{}, how
		}
	}
	for high-low > 1 && low >= 0 {
		if !try((low + high) / 2) {
			return 0, place{}, how
		}
	}
	return low, best, known
}

// walk looks at every position. Groups that may skip blocks need it where chains
// do not go back to their start.
func (sc *scratch) walk(d *directory, hashes []uint64) bool {
	p := &sc.prompts[len(sc.prompts)-1]
	if p.changes = d.changes.Load(); p.changes%2 != 0 {
		return false
	}
	for i := 0; i < len(hashes); {
		at, found, steady := d.table.look(hashes[i])
		switch {
		case !steady:
			return false
		case !found:
			i++
			continue
		}
		l, version, steady := d.glance(at.run)
		if !steady {
			return false
		}
		n := 1
		for ; i+n < len(hashes) && int(at.offset)+n < int(l.length); n++ {
			if hash, steady := d.peek(place{at.run, at.offset + uint16(n)}); !steady {
				return false
			} else if hash != hashes[i+n] {
				break
			}
		}
		s := step{sc.prompt, at.run, version, at.offset, l}
		s.depth = uint32(i) - uint32(at.offset) // where this chain has it
		if !sc.read(&s, at.offset, at.offset+uint16(n), false, false) {
			return false
		}
		i += n
	}
	return true
}

// stable reports whether everything that was read was so at one moment.
func (sc *scratch) stable() bool {
	for i := range sc.steps {
		s := &sc.steps[i]
		if sc.prompts[s.prompt].directory.run(s.number).version.Load() != s.version {
			return false
		}
	}
	for i := range sc.prompts {
		if p := &sc.prompts[i]; p.changes%2 == 0 && p.directory.changes.Load() != p.changes {
			return false
		}
	}
	return true
}

// touch notes that what was read is in use.
func (sc *scratch) touch() {
	for i := range sc.steps {
		s := &sc.steps[i]
		d := sc.prompts[s.prompt].directory
		d.touch(d.run(s.number))
	}
}

// release forgets what would keep sessions and directories alive.
func (sc *scratch) release() {
	clear(sc.prompts)
	clear(sc.holders)
}

// scanned returns the number of blocks that a directory was asked for.
func (sc *scratch) scanned(d *directory) (int, bool) {
	for i := range sc.prompts {
		if sc.prompts[i].directory == d {
			return len(sc.prompts[i].hashes), true
		}
	}
	return 0, false
}
