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
	"sync"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cacheindex"
)

// SignalInterval is the least time between two signals to one watcher. An index
// under load changes thousands of times a second; people and controllers that
// watch totals do not.
const SignalInterval = 5 * time.Second

// IndexReader gives the one CacheIndex. Make it with NewIndexReader.
type IndexReader struct {
	source Source
	// uid finds the UID of a CacheBackend, or none.
	uid func(types.NamespacedName) types.UID

	mu          sync.Mutex
	content     inferencecache.CacheIndexStatus
	revision    uint64
	lastUpdated time.Time
}

var _ cacheindex.Reader = (*IndexReader)(nil)

// NewIndexReader returns a reader of source. uid names the objects behind the
// backends that engines report for; it returns an empty UID for unknown ones.
func NewIndexReader(source Source, uid func(types.NamespacedName) types.UID) *IndexReader {
	return &IndexReader{source: source, uid: uid}
}

// Get implements cacheindex.Reader.
func (r *IndexReader) Get(ctx context.Context) (*inferencecache.CacheIndex, uint64, error) {
	span := startRead(ctx, "Read totals of the index")
	now := r.source.Clock.Now()
	content := r.read(now)
	endRead(span, content.Complete, len(content.Replicas))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.revision == 0 || !apiequality.Semantic.DeepEqual(content, r.content) {
		r.content = *content.DeepCopy()
		r.revision++
		r.lastUpdated = now
	}
	content.ObservedBy, content.ObservedServer = r.source.Name, r.source.Name
	content.AsOf = microTime(now)
	content.LastUpdated = secondTime(r.lastUpdated)
	return &inferencecache.CacheIndex{Status: content}, r.revision, nil
}

// Subscribe implements cacheindex.Reader. Whether something has changed is
// looked at once per interval, which also finds changes that only time makes,
// such as the end of the warm-up.
func (r *IndexReader) Subscribe(ctx context.Context) <-chan struct{} {
	signals := make(chan struct{}, 1)
	_, seen, _ := r.Get(ctx)
	ticker := r.source.Clock.NewTicker(SignalInterval)
	go func() {
		defer close(signals)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C():
			}
			_, revision, _ := r.Get(ctx)
			if revision == seen {
				continue
			}
			seen = revision
			select {
			case signals <- struct{}{}:
			default:
				// The pending signal covers this change as well.
			}
		}
	}()
	return signals
}

// read computes the content: everything that counts as a change.
func (r *IndexReader) read(now time.Time) inferencecache.CacheIndexStatus {
	views, complete := r.source.Index.Holders(now)
	prefixes := r.source.Index.Prefixes()
	status := inferencecache.CacheIndexStatus{Complete: complete}
	for _, n := range prefixes {
		status.Prefixes.Summary.Total += n
	}
	backends := map[index.Backend]*counters{}
	tenants := map[string]*counters{}
	for i := range views {
		v := &views[i]
		status.Replicas = append(status.Replicas, indexReplica(v))
		if v.Backend != (index.Backend{}) {
			group(backends, v.Backend).add(v)
		}
		group(tenants, v.Tenant).add(v)
	}
	for tenant := range prefixes {
		group(tenants, tenant)
	}
	status.Backends = r.backends(backends)
	for _, tenant := range slices.Sorted(maps.Keys(tenants)) {
		status.Tenants = append(status.Tenants, inferencecache.CacheIndexTenant{
			ID:           tenant,
			IndexEntries: ptr.To(prefixes[tenant]),
			HitRate:      tenants[tenant].hitRate(),
		})
	}
	return status
}

// group returns the counters of key, made when it is new.
func group[K comparable](groups map[K]*counters, key K) *counters {
	c, ok := groups[key]
	if !ok {
		c = newCounters()
		groups[key] = c
	}
	return c
}

func (r *IndexReader) backends(groups map[index.Backend]*counters) []inferencecache.CacheIndexBackend {
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b index.Backend) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var backends []inferencecache.CacheIndexBackend
	for _, k := range keys {
		c := groups[k]
		backends = append(backends, inferencecache.CacheIndexBackend{
			Namespace:        k.Namespace,
			Name:             k.Name,
			UID:              r.uid(types.NamespacedName(k)),
			PrefixCount:      c.prefixes,
			LastEventAt:      secondTime(c.lastEvent),
			HitTokens:        c.hitTokens,
			QueryTokens:      c.queryTokens,
			T2HitTokens:      c.t2HitTokens,
			T2QueryTokens:    c.t2QueryTokens,
			CacheMemoryBytes: c.cacheMemoryBytes,
			Pressure:         decimal(c.pressure),
			Exact:            c.exact,
			Complete:         c.complete,
		})
	}
	return backends
}

func indexReplica(v *index.HolderView) inferencecache.CacheIndexReplica {
	c := newCounters()
	c.add(v)
	return inferencecache.CacheIndexReplica{
		Namespace:        v.Holder.Namespace,
		Pod:              v.Holder.Pod,
		Rank:             int32(v.Holder.Rank),
		ID:               v.Holder.ReplicaID(),
		Tenant:           v.Tenant,
		CacheMemoryBytes: c.cacheMemoryBytes,
		HitRate:          c.hitRate(),
		Pressure:         decimal(c.pressure),
		LastUpdate:       secondTime(c.lastReport),
	}
}
