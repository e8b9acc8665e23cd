/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"cmp"
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachebackend"
)

// Observer answers cachebackends/observation.
type Observer struct {
	Source
}

var _ cachebackend.Observer = Observer{}

// Observe implements cachebackend.Observer. The summary speaks of the replicas
// that are shown, so that it always adds up.
func (o Observer) Observe(ctx context.Context, backend types.NamespacedName, _ types.UID,
	options *inferencecache.CacheBackendObservationOptions) (*inferencecache.CacheBackendObservation, error) {
	span := startRead(ctx, "Observe a backend")
	now := o.Clock.Now()
	views, complete := o.Index.BackendHolders(index.Backend(backend), now)
	tier := parseTier(inferencecache.CacheTier(options.Tier))
	views = slices.DeleteFunc(views, func(v index.HolderView) bool {
		return (options.Model != "" && v.Model != options.Model) || (tier != 0 && v.Blocks[tier-1] == 0)
	})
	total := newCounters()
	scopes := map[inferencecache.BlockScope]int64{}
	answer := &inferencecache.CacheBackendObservation{
		ObservedBy: o.Name,
		AsOf:       metav1.NewMicroTime(now),
		Complete:   complete,
	}
	for i := range views {
		v := &views[i]
		total.add(v)
		addScopes(scopes, v)
		answer.Replicas = append(answer.Replicas, observedReplica(v))
	}
	answer.Summary = summary(total, len(views))
	answer.Scopes = sortedScopes(scopes)
	endRead(span, complete, len(views))
	return answer, nil
}

func summary(c *counters, replicas int) inferencecache.ObservationSummary {
	return inferencecache.ObservationSummary{
		PrefixCount:      c.prefixes,
		Blocks:           blocksOf(c.blocks),
		Replicas:         int64(replicas),
		FirstEventAt:     microTime(c.firstEvent),
		LastEventAt:      microTime(c.lastEvent),
		HitTokens:        c.hitTokens,
		QueryTokens:      c.queryTokens,
		T2HitTokens:      c.t2HitTokens,
		T2QueryTokens:    c.t2QueryTokens,
		CacheMemoryBytes: c.cacheMemoryBytes,
		Pressure:         decimal(c.pressure),
	}
}

func observedReplica(v *index.HolderView) inferencecache.ObservedReplica {
	r := inferencecache.ObservedReplica{
		Namespace:   v.Holder.Namespace,
		Pod:         v.Holder.Pod,
		Rank:        int32(v.Holder.Rank),
		State:       stateOf(v.State),
		Epoch:       int64(v.Epoch),
		Sequence:    int64(v.Sequence),
		LastEventAt: microTime(v.LastEvent),
		Engine:      v.Engine,
		Model:       v.Model,
		BlockSize:   blockSize(v),
		Exact:       v.Exact(),
		Conflicts:   v.Confidence.Conflicts,
		PrefixCount: v.Prefixes,
		Blocks:      blocksOf(v.Blocks),
		Load:        loadOf(v.Stats),
	}
	for _, g := range v.Groups {
		// Engines that name no kind have full attention only.
		group := inferencecache.KVCacheGroup{Index: int32(g.Index), Kind: cmp.Or(g.SpecKind, "full_attention")}
		if g.Kind == index.WindowGroup && g.Window > 0 {
			group.Window = ptr.To(int64(g.Window))
		}
		r.Groups = append(r.Groups, group)
	}
	return r
}

// blockSize is the block size of a rank: that of its full-attention group, on
// which reuse hangs, else of its first group, else of the first scope that an
// event told. 0 means that none has.
func blockSize(v *index.HolderView) int64 {
	full := slices.IndexFunc(v.Groups, func(g index.Group) bool { return g.Kind == index.FullGroup })
	switch {
	case full >= 0:
		return int64(v.Groups[full].BlockSize)
	case len(v.Groups) > 0:
		return int64(v.Groups[0].BlockSize)
	case len(v.Scopes) > 0:
		return int64(v.Scopes[0].BlockSize)
	default:
		return 0
	}
}

// loadOf is nil when the engine says nothing about its load.
func loadOf(s *index.Stats) *inferencecache.EngineLoad {
	if s == nil || s.Running == nil || s.Waiting == nil {
		return nil // half a load would pass for a light one
	}
	return &inferencecache.EngineLoad{
		Running:    *s.Running,
		Waiting:    *s.Waiting,
		CacheUsage: decimal(s.CacheUsage),
	}
}

func addScopes(scopes map[inferencecache.BlockScope]int64, v *index.HolderView) {
	for _, s := range v.Scopes {
		scopes[inferencecache.BlockScope{
			Model:      v.Model,
			HashScheme: v.HashScheme,
			Adapter:    s.Adapter,
			Salted:     s.Salted,
			BlockSize:  int64(s.BlockSize),
		}] += s.Blocks
	}
}

func sortedScopes(scopes map[inferencecache.BlockScope]int64) []inferencecache.ObservedScope {
	keys := slices.SortedFunc(maps.Keys(scopes), func(a, b inferencecache.BlockScope) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.HashScheme, b.HashScheme),
			cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.BlockSize, b.BlockSize), compareBool(a.Salted, b.Salted))
	})
	var sorted []inferencecache.ObservedScope
	for _, k := range keys {
		sorted = append(sorted, inferencecache.ObservedScope{BlockScope: k, Blocks: scopes[k]})
	}
	return sorted
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
