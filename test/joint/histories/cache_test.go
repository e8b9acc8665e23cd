/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// blockSize is the number of tokens of a block.
const blockSize = 4

// content is a block at the end of one prefix: a node in the tree of prompts.
type content struct {
	adapter, salt string
	parent        *content
	depth         int
	tokens        []uint32
}

// path returns the contents from the start of the chain to c.
func (c *content) path() []*content {
	path := make([]*content, c.depth+1)
	for ; c != nil; c = c.parent {
		path[c.depth] = c
	}
	return path
}

// prompt is a question and a thing to compute: the blocks of a path and maybe a
// piece of another block.
type prompt struct {
	path   []*content
	tokens []uint32
}

func newPrompt(leaf *content, more int) prompt {
	p := prompt{path: leaf.path()}
	for _, c := range p.path {
		p.tokens = append(p.tokens, c.tokens...)
	}
	for i := range more {
		p.tokens = append(p.tokens, uint32(i))
	}
	return p
}

// universe is what a history's engines are asked.
type universe struct {
	// repeats: a prompt may have the same block several times.
	repeats bool
	leaves  []*content
	probes  []prompt
}

// newUniverse draws trees of prompts: with and without salt, sometimes with an
// adapter, over the same few tokens, so that only scope and salt tell them apart.
func newUniverse(rng *rand.Rand) *universe {
	u := &universe{repeats: rng.IntN(2) == 0}
	depth := 2 + rng.IntN(3)
	roots := []content{{}, {salt: "salt"}, {adapter: "lora"}}
	for _, root := range roots[:2+rng.IntN(4)/3] {
		u.grow(rng, root, nil, depth)
	}
	for range 5 {
		u.probes = append(u.probes, newPrompt(u.leaves[rng.IntN(len(u.leaves))], rng.IntN(blockSize)))
	}
	return u
}

func (u *universe) grow(rng *rand.Rand, root content, parent *content, depth int) {
	first := rng.Perm(4)
	for i := range 1 + rng.IntN(2) {
		c := &content{adapter: root.adapter, salt: root.salt, parent: parent}
		if parent != nil {
			c.depth = parent.depth + 1
		}
		c.tokens = []uint32{uint32(first[i]), 1, 2, 3}
		if !u.repeats {
			c.tokens[1] = uint32(c.depth)
		}
		if c.depth < depth {
			u.grow(rng, root, c, depth)
		} else {
			u.leaves = append(u.leaves, c)
		}
	}
}

// The tiers of the model, as positions in the index's counters.
const (
	device = iota
	host
)

// groupShape is one KV-cache group of a model.
type groupShape struct {
	kind   string
	window int
}

// need is the number of blocks before the end of a prefix that the group must
// hold, at most n.
func (g groupShape) need(n int) int {
	switch g.kind {
	case "sliding_window":
		return min(n, (g.window-1+blockSize-1)/blockSize)
	case "mamba":
		return 1
	}
	return n
}

// place is where a copy of a block can be.
type place struct {
	group, tier int
	content     *content
}

// cache is what an engine holds: copies by place.
type cache struct {
	groups []groupShape
	copies map[place]int
	// places are the keys of copies in the order in which they came, so that a
	// seed gives the same choices.
	places []place
}

func (c *cache) add(p place) {
	if c.copies[p] == 0 {
		c.places = append(c.places, p)
	}
	c.copies[p]++
}

func (c *cache) remove(p place) {
	if c.copies[p] == 0 {
		panic(fmt.Sprintf("no copy of %+v to remove", p))
	}
	if c.copies[p]--; c.copies[p] == 0 {
		delete(c.copies, p)
		c.places = slices.DeleteFunc(c.places, func(other place) bool { return other == p })
	}
}

func (c *cache) clear() {
	c.copies, c.places = map[place]int{}, nil
}

// fullGroup is the group that other tiers extend.
func (c *cache) fullGroup() int {
	return slices.IndexFunc(c.groups, func(g groupShape) bool { return g.kind == "" || g.kind == "full_attention" })
}

// vague reports whether events may leave open where a block lies: no group lists
// all of them.
func (c *cache) vague() bool { return c.fullGroup() < 0 }

// blocks returns how many blocks of a path the cache would reuse, at most limit.
func (c *cache) blocks(path []*content, limit int) int {
	for n := min(limit, len(path)); n > 0; n-- {
		if c.holds(path[:n]) {
			return n
		}
	}
	return 0
}

func (c *cache) holds(path []*content) bool {
	for i, g := range c.groups {
		for _, block := range path[len(path)-g.need(len(path)):] {
			if c.copies[place{i, device, block}]+c.copies[place{i, host, block}] == 0 {
				return false
			}
		}
	}
	return true
}

// reuse returns the tokens that the engine would reuse. It computes at least one.
func (c *cache) reuse(p prompt) int {
	return blockSize * c.blocks(p.path, (len(p.tokens)-1)/blockSize)
}

// counts returns the distinct blocks of which a condition holds, by tier and in
// all.
func (c *cache) counts(sure func(*content) bool) (tiers [3]int64, all int64) {
	var seen [2]map[*content]bool
	union := map[*content]bool{}
	for tier := range seen {
		seen[tier] = map[*content]bool{}
	}
	for p := range c.copies {
		if !sure(p.content) {
			continue
		}
		seen[p.tier][p.content], union[p.content] = true, true
	}
	return [3]int64{int64(len(seen[device])), int64(len(seen[host]))}, int64(len(union))
}
