/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package rest

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// fakeLive knows nothing about everything.
type fakeLive struct{}

func (fakeLive) Observe(context.Context, types.NamespacedName, types.UID,
	*inferencecache.CacheBackendObservationOptions) (*inferencecache.CacheBackendObservation, error) {
	return &inferencecache.CacheBackendObservation{}, nil
}

func (fakeLive) ListSnapshot(context.Context, types.NamespacedName, types.UID,
	*inferencecache.CacheBackendSnapshotOptions) (*inferencecache.CacheBackendSnapshot, error) {
	return &inferencecache.CacheBackendSnapshot{}, nil
}

func (fakeLive) Probe(context.Context, types.NamespacedName) (inferencecache.CacheBackendProbeStatus, error) {
	return inferencecache.CacheBackendProbeStatus{}, nil
}

func (fakeLive) Get(context.Context) (*inferencecache.CacheIndex, uint64, error) {
	return &inferencecache.CacheIndex{}, 0, nil
}

func (fakeLive) Subscribe(context.Context) <-chan struct{} { return nil }

func (fakeLive) Lookup(context.Context, string, *inferencecache.RouteLookup) error { return nil }

// noAdapters declare nothing.
type noAdapters struct{}

func (noAdapters) Engines() []validation.Engine { return nil }
func (noAdapters) Stores() []validation.Store   { return nil }

func TestNewStorageNeedsAdapters(t *testing.T) {
	live := LiveData{Observer: fakeLive{}, Snapshots: fakeLive{}, Prober: fakeLive{}, Index: fakeLive{}, Routes: fakeLive{}}
	if _, err := NewStorage(runtime.NewScheme(), nil, nil, live, nil); err == nil {
		t.Error("storage was made that would panic on its first write")
	}
}

func TestNewStorageNeedsAllLiveData(t *testing.T) {
	tests := map[string]func(*LiveData){
		"observer":  func(l *LiveData) { l.Observer = nil },
		"snapshots": func(l *LiveData) { l.Snapshots = nil },
		"prober":    func(l *LiveData) { l.Prober = nil },
		"index":     func(l *LiveData) { l.Index = nil },
		"routes":    func(l *LiveData) { l.Routes = nil },
	}
	for name, remove := range tests {
		t.Run(name, func(t *testing.T) {
			live := LiveData{Observer: fakeLive{}, Snapshots: fakeLive{}, Prober: fakeLive{}, Index: fakeLive{}, Routes: fakeLive{}}
			remove(&live)
			if _, err := NewStorage(runtime.NewScheme(), nil, noAdapters{}, live, nil); err == nil {
				t.Error("storage was made that would panic on its first read")
			}
		})
	}
}
