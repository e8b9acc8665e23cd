/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// scopeKey is the identity that blocks must share to be comparable.
type scopeKey struct {
	adapter   uint32
	blockSize uint32
	salted    bool
	// revocable: the engine may stop reusing what it announced and not say so.
	revocable bool
}

// registry gives numbers to adapters, scopes and groups, in order of appearance.
// What was numbered stays numbered.
type registry struct {
	adapterIDs map[string]uint32
	adapters   []string
	scopeIDs   map[scopeKey]uint32
	scopes     []scopeKey
	groups     map[uint32]*group
	// declared are the changes that nobody has been told yet.
	declared []Change
}

// group is what is known about one KV-cache group.
type group struct {
	GroupDeclared
	// ignored: the group does not hold prefixes of the prompt.
	ignored bool
}

// Bounds of what an index takes. Engines stay far below them; what a broken or
// hostile event has beyond them is refused here, because an index that refuses a
// change cannot go on.
const (
	// maxGroup is the highest group index.
	maxGroup = 63
	// maxBlockSize is the largest number of tokens of a block.
	maxBlockSize = 1 << 20
	// maxDepth is the number of blocks of the longest chain.
	maxDepth = 1 << 24
	// maxAdapterBytes and maxSpecBytes are the lengths of the longest names.
	maxAdapterBytes = 512
	maxSpecBytes    = 256
)

// reportable says whether a name can be told to an index and shown to people.
func reportable(name string, limit int) bool {
	return len(name) <= limit && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsPrint(r) || r == unicode.ReplacementChar
	})
}

func newRegistry() registry {
	return registry{
		adapterIDs: map[string]uint32{},
		scopeIDs:   map[scopeKey]uint32{},
		groups:     map[uint32]*group{},
	}
}

// adapterOf returns the name under which an event's adapter is reported.
func adapterOf(ev *kvevents.Event) string {
	if ev.LoRAName != "" || !ev.HasLoRAID {
		return ev.LoRAName
	}
	return "lora-id:" + strconv.FormatInt(ev.LoRAID, 10)
}

// adapter returns the number of an adapter, if there is room for it.
func (r *registry) adapter(name string, limit int) (uint32, bool) {
	id, ok := r.adapterIDs[name]
	if ok {
		return id, true
	}
	if len(r.adapters) >= limit || !reportable(name, maxAdapterBytes) {
		return 0, false
	}
	id = uint32(len(r.adapters))
	// The name may be part of a larger buffer, which must not be kept alive.
	name = strings.Clone(name)
	r.adapterIDs[name] = id
	r.adapters = append(r.adapters, name)
	return id, true
}

// scope returns the number of a scope, if there is room for it.
func (r *registry) scope(key scopeKey, limit int) (uint32, bool) {
	id, ok := r.scopeIDs[key]
	if ok {
		return id, true
	}
	if len(r.scopes) >= limit {
		return 0, false
	}
	id = uint32(len(r.scopes))
	r.scopeIDs[key] = id
	r.scopes = append(r.scopes, key)
	r.declared = append(r.declared, r.declareScope(id))
	return id, true
}

func (r *registry) declareScope(id uint32) ScopeDeclared {
	key := r.scopes[id]
	return ScopeDeclared{ID: id, Adapter: r.adapters[key.adapter], BlockSize: key.blockSize, Salted: key.salted}
}

// groupIndex returns the group that an event speaks of. Engines that do not send
// one have a single group.
func groupIndex(ev *kvevents.Event) (uint32, bool) {
	if !ev.HasGroup {
		return 0, true
	}
	if ev.Group < 0 || ev.Group > maxGroup {
		return 0, false
	}
	return uint32(ev.Group), true
}

// observe learns about a group from a BlockStored that describes it. It returns
// nil when the event contradicts what the group is known to be.
func (r *registry) observe(index uint32, ev *kvevents.Event) *group {
	kind, ignored := kindOf(ev.SpecKind)
	now := GroupDeclared{Index: index, Kind: kind, SpecKind: ev.SpecKind, BlockSize: uint32(ev.BlockSize)}
	if kind == GroupWindow && ev.SlidingWindow > 0 {
		now.Window = uint32(min(ev.SlidingWindow, math.MaxInt32))
	}
	if !reportable(now.SpecKind, maxSpecBytes) {
		now.SpecKind = unknownSpec
	}
	g := r.groups[index]
	switch {
	case g == nil:
		g = &group{}
		r.groups[index] = g
	case g.GroupDeclared == now:
		return g
	case g.Kind != now.Kind || g.ignored != ignored || g.BlockSize != now.BlockSize:
		return nil
	}
	now.SpecKind = strings.Clone(now.SpecKind)
	g.GroupDeclared, g.ignored = now, ignored
	if !ignored {
		r.declared = append(r.declared, now)
	}
	return g
}

// unknownSpec is reported for a kind whose name cannot be.
const unknownSpec = "unknown"

// kindOf maps an engine's word for a kind of attention to the rule of reuse.
// Engines without the word have full attention only. A chunked local window is a
// window whose exact rule is unknown, which the index learns from the word.
func kindOf(spec string) (kind GroupKind, ignored bool) {
	switch spec {
	case "", "full_attention", "mla_attention", "sink_full_attention":
		return GroupFull, false
	case "sliding_window", "sliding_window_mla", "chunked_local_attention":
		return GroupWindow, false
	case "mamba":
		return GroupCheckpoint, false
	case "encoder_only_attention", "cross_attention":
		return GroupUnspecified, true
	default:
		return GroupUnspecified, false
	}
}

// lmcacheMedium is how LMCache, running inside an engine, labels events about its
// own chunks. They have hashes of LMCache's own chain, so they must not meet the
// engine's. Engines spell their host tier in capitals.
const lmcacheMedium = "cpu"

// tierOf maps a medium to a tier. Not ok is a medium that is not known.
func tierOf(medium string) (tier Tier, ok bool) {
	switch medium {
	case "", "GPU":
		return T1, true
	}
	switch strings.ToUpper(medium) {
	case "GPU":
		return T1, true
	case "CPU", "CPU_PINNED", "CPU_TIER1", "CPU_TIER2":
		return T2, true
	case "STORAGE", "DISK", "EXTERNAL":
		return T3, true
	default:
		return 0, false
	}
}
