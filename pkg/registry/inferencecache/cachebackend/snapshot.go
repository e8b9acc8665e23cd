/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/table"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// snapshotLimit bounds the chains of one page. An item takes about 300 bytes and
// the names of the engines that hold it.
var snapshotLimit = virtual.Limit{Default: 500, Max: 5000}

// maxContinueBytes is the longest continue token that is looked at. Our own are
// far shorter; a longer one cannot be valid.
const maxContinueBytes = 4096

// SnapshotREST is the virtual subresource snapshot.
type SnapshotREST struct {
	rest.TableConvertor
	parent    virtual.Parent
	snapshots SnapshotLister
}

var (
	_ rest.GetterWithOptions = (*SnapshotREST)(nil)
	_ rest.TableConvertor    = (*SnapshotREST)(nil)
)

// New implements rest.Storage.
func (*SnapshotREST) New() runtime.Object {
	return &inferencecache.CacheBackendSnapshot{}
}

// Destroy implements rest.Storage. There is nothing to release.
func (*SnapshotREST) Destroy() {}

// NewGetOptions implements rest.GetterWithOptions.
func (*SnapshotREST) NewGetOptions() (runtime.Object, bool, string) {
	return &inferencecache.CacheBackendSnapshotOptions{}, false, ""
}

// Get returns one page of the chains that the engines of the CacheBackend hold.
func (r *SnapshotREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	asked, ok := options.(*inferencecache.CacheBackendSnapshotOptions)
	if !ok {
		return nil, fmt.Errorf("reading a snapshot: unexpected options %T", options)
	}
	if err := badQuery(validation.ValidateCacheBackendSnapshotOptions(asked)); err != nil {
		return nil, err
	}
	if len(asked.Continue) > maxContinueBytes {
		return nil, virtual.APIError(virtual.ErrInvalidContinue)
	}
	limit, err := snapshotLimit.Resolve(ctx, asked.Limit)
	if err != nil {
		return nil, err
	}
	parent, err := r.parent.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	resolved := *asked
	resolved.Limit = limit
	backend := types.NamespacedName{Namespace: parent.GetNamespace(), Name: parent.GetName()}
	snapshot, err := r.snapshots.ListSnapshot(ctx, backend, parent.GetUID(), &resolved)
	if err != nil {
		return nil, virtual.APIError(err)
	}
	snapshot.ObjectMeta = virtual.Meta(parent)
	return snapshot, nil
}

// newSnapshotTable returns what kubectl prints of a snapshot: a line per chain.
func newSnapshotTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.NewRows(clock,
		func(s *inferencecache.CacheBackendSnapshot) []*inferencecache.SnapshotItem {
			rows := make([]*inferencecache.SnapshotItem, 0, len(s.Items))
			for i := range s.Items {
				rows = append(rows, &s.Items[i])
			}
			return rows
		},
		func(s *inferencecache.CacheBackendSnapshot) runtime.Object {
			return &inferencecache.CacheBackendSnapshot{ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace, UID: s.UID}}
		},
		chainColumn("Hash", "string", "Key of the last block of the chain.", false,
			func(i *inferencecache.SnapshotItem) any { return i.Hash }),
		chainColumn("Tokens", "integer", "Length of the chain in tokens.", false,
			func(i *inferencecache.SnapshotItem) any { return i.Tokens }),
		chainColumn("Tier", "string", "Slowest tier in which a block of the chain lies.", false,
			func(i *inferencecache.SnapshotItem) any { return table.Text(i.Tier) }),
		chainColumn("Replicas", "string", "Engine ranks that hold the whole chain.", false,
			func(i *inferencecache.SnapshotItem) any {
				names := make([]string, 0, len(i.Replicas))
				for _, replica := range i.Replicas {
					names = append(names, replicaName(replica.Pod, replica.Rank))
				}
				return table.Join(names)
			}),
		chainColumn("Model", "string", "Model whose attention state the chain holds.", true,
			func(i *inferencecache.SnapshotItem) any { return table.Text(i.Scope.Model) }),
		chainColumn("Adapter", "string", "LoRA adapter.", true,
			func(i *inferencecache.SnapshotItem) any { return table.Text(i.Scope.Adapter) }),
		chainColumn("Scheme", "string", "Way in which the blocks are keyed.", true,
			func(i *inferencecache.SnapshotItem) any { return table.Text(i.Scope.HashScheme) }),
		chainColumn("BlockSize", "integer", "Tokens in one block.", true,
			func(i *inferencecache.SnapshotItem) any { return i.Scope.BlockSize }),
		chainColumn("Salted", "boolean", "Whether the blocks were computed under a salt.", true,
			func(i *inferencecache.SnapshotItem) any { return i.Scope.Salted }),
	)
}

// chainColumn is a column over the chains of a snapshot.
func chainColumn(name, kind, description string, wide bool, cell func(*inferencecache.SnapshotItem) any) table.Column[*inferencecache.SnapshotItem] {
	return table.Column[*inferencecache.SnapshotItem]{
		Name: name, Type: kind, Description: description, Wide: wide,
		Cell: func(item *inferencecache.SnapshotItem, _ metav1.Time) any { return cell(item) },
	}
}
