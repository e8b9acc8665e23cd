/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	registry "inferencecache.io/inference-cache/pkg/registry/inferencecache/rest"
)

type empty struct{}

func (empty) Observe(context.Context, types.NamespacedName, types.UID, *inferencecache.CacheBackendObservationOptions) (*inferencecache.CacheBackendObservation, error) {
	return &inferencecache.CacheBackendObservation{}, nil
}
func (empty) ListSnapshot(context.Context, types.NamespacedName, types.UID, *inferencecache.CacheBackendSnapshotOptions) (*inferencecache.CacheBackendSnapshot, error) {
	return &inferencecache.CacheBackendSnapshot{}, nil
}
func (empty) Get(context.Context) (*inferencecache.CacheIndex, uint64, error) {
	return &inferencecache.CacheIndex{}, 1, nil
}
func (empty) Subscribe(ctx context.Context) <-chan struct{} { return make(chan struct{}) }
func (empty) Lookup(ctx context.Context, namespace string, lookup *inferencecache.RouteLookup) error {
	return nil
}

func emptyLive() registry.LiveData {
	return registry.LiveData{Observer: empty{}, Snapshots: empty{}, Index: empty{}, Routes: empty{}}
}
