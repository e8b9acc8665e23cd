/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"strconv"
	"strings"

	"inferencecache.io/inference-cache/test/engine/wire"
)

// dialect is what one generation of an engine puts on the wire.
type dialect struct {
	engine string
	// since is the oldest version with these properties.
	since version
	// maps is the tagged form; else storedItems and removedItems are the
	// lengths of the arrays, the tag included.
	maps                      bool
	storedItems, removedItems int
	// nulls keeps trailing nulls of arrays.
	nulls bool
	// signed sends hashes as signed integers.
	signed bool
	// removal is how much one event removes.
	removal removalForm
	// evictsAll frees as many pages as are wanted, whatever is free already.
	evictsAll bool
	// joined lists several pages in one stored event.
	joined bool
	// saltItem is an eighth item, a map, on salted stores.
	saltItem bool
	// adapters names adapters (SGLang).
	adapters bool
	replay   wire.ReplayForm
	// fifo is the order of the pool's free list.
	fifo bool
}

type version [3]int

// removalForm is what SGLang puts into one BlockRemoved.
type removalForm uint8

const (
	removeJoined removalForm = iota // everything that leaves a tier in a row
	removeNode                      // a node of the tree
	removePage                      // a page
)

// dialects lists the generations of each engine, oldest first.
func dialects() []dialect {
	return []dialect{
		{engine: VLLM, since: version{0, 9, 0}, storedItems: 6, removedItems: 2, nulls: true, signed: true, fifo: true},
		{engine: VLLM, since: version{0, 11, 0}, storedItems: 7, removedItems: 3, nulls: true, fifo: true},
		{engine: VLLM, since: version{0, 22, 0}, storedItems: 12, removedItems: 4, nulls: true, fifo: true},
		{engine: VLLM, since: version{0, 24, 0}, maps: true},
		{engine: VLLM, since: version{0, 26, 0}, maps: true, replay: wire.ReplayTopic},
		{engine: SGLang, since: version{0, 5, 6}, storedItems: 6, removedItems: 2, signed: true, removal: removePage, evictsAll: true},
		{engine: SGLang, since: version{0, 5, 9}, storedItems: 7, removedItems: 3, signed: true, removal: removePage, evictsAll: true},
		{engine: SGLang, since: version{0, 5, 16}, storedItems: 7, removedItems: 3, signed: true, removal: removeNode, evictsAll: true},
		{engine: SGLang, since: version{0, 5, 17}, storedItems: 7, removedItems: 3, nulls: true, signed: true, removal: removeNode},
		{engine: SGLang, since: version{0, 5, 18}, storedItems: 7, removedItems: 3, nulls: true, signed: true, joined: true, saltItem: true},
		{engine: SGLang, since: version{0, 5, 20}, maps: true, signed: true, joined: true},
		{engine: SGLang, since: version{0, 5, 22}, maps: true, signed: true, joined: true, adapters: true, replay: wire.ReplayTopic},
	}
}

// dialectOf returns how an engine of a version speaks.
func dialectOf(engine, text string) (dialect, error) {
	v, err := parseVersion(text)
	if err != nil {
		return dialect{}, err
	}
	var found dialect
	for _, d := range dialects() {
		if d.engine == engine && !v.before(d.since) {
			found = d
		}
	}
	if found.engine == "" {
		return dialect{}, fmt.Errorf("%s %s is older than what can be simulated", engine, text)
	}
	return found, nil
}

func parseVersion(text string) (version, error) {
	var v version
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > len(v) {
		return v, fmt.Errorf("version %q: want two or three numbers", text)
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return v, fmt.Errorf("version %q: %w", text, err)
		}
		v[i] = n
	}
	return v, nil
}

func (v version) before(other version) bool {
	for i := range v {
		if v[i] != other[i] {
			return v[i] < other[i]
		}
	}
	return false
}
