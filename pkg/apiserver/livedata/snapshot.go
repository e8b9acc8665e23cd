/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apiserver/livedata/position"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachebackend"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// SnapshotLister answers cachebackends/snapshot.
type SnapshotLister struct {
	Source
}

var _ cachebackend.SnapshotLister = SnapshotLister{}

// ListSnapshot implements cachebackend.SnapshotLister. A chain that lies in
// several tiers is one item for each of them. The order follows from the content
// alone, so a listing may go on at another replica; what changes between two
// pages is seen or missed depending on where in the order it is.
func (l SnapshotLister) ListSnapshot(ctx context.Context, backend types.NamespacedName, _ types.UID,
	options *inferencecache.CacheBackendSnapshotOptions) (*inferencecache.CacheBackendSnapshot, error) {
	from, err := position.Parse(options.Continue)
	if err != nil {
		return nil, virtual.ErrInvalidContinue
	}
	span := startRead(ctx, "List the blocks of a backend")
	now := l.Clock.Now()
	holders, complete := l.Index.BackendHolders(index.Backend(backend), now)
	defer endRead(span, complete, len(holders))
	limit := int(options.Limit)
	found, more := l.Index.List(index.ListQuery{
		Backend: index.Backend(backend),
		Model:   options.Model,
		Tier:    parseTier(inferencecache.CacheTier(options.Tier)),
		After:   from.After(),
		// One more, because the first may be the last of the page before.
		Limit: limit + 1,
	})
	answer := &inferencecache.CacheBackendSnapshot{
		ObservedBy: l.Name,
		AsOf:       metav1.NewMicroTime(now),
		Complete:   complete,
		Items:      []inferencecache.SnapshotItem{},
	}
	last := from
	for i := range found {
		for _, tier := range []index.Tier{index.T1, index.T2, index.T3} {
			here := &position.Position{Key: found[i].ItemKey, Tier: tier}
			if len(found[i].Holders[tier]) == 0 || from.Covers(here) {
				continue
			}
			if len(answer.Items) == limit {
				answer.Continue, err = last.Token()
				return answer, err
			}
			answer.Items = append(answer.Items, snapshotItem(&found[i], tier))
			last = here
		}
	}
	if more && last != nil {
		answer.Continue, err = last.Token()
	}
	return answer, err
}

func snapshotItem(it *index.Item, tier index.Tier) inferencecache.SnapshotItem {
	item := inferencecache.SnapshotItem{
		Scope: inferencecache.BlockScope{
			Model:      it.Model,
			HashScheme: it.HashScheme,
			Adapter:    it.Adapter,
			Salted:     it.Salted,
			BlockSize:  int64(it.BlockSize),
		},
		Hash:     fmt.Sprintf("%016x", it.Hash),
		Tokens:   it.Tokens,
		Tier:     tierOf(tier),
		Replicas: []inferencecache.SnapshotReplica{},
	}
	for _, h := range it.Holders[tier] {
		item.Replicas = append(item.Replicas, inferencecache.SnapshotReplica{Pod: h.Pod, Rank: int32(h.Rank)})
	}
	return item
}
