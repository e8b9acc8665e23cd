/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachepolicy

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/stored"
)

// Storage holds the REST storage of cachepolicies and its subresource.
type Storage struct {
	// CachePolicy is the main resource.
	CachePolicy *stored.REST
	// Status is the subresource status.
	Status *stored.StatusREST
}

// NewStorage returns the storage of cachepolicies.
func NewStorage(scheme runtime.ObjectTyper, optsGetter generic.RESTOptionsGetter, clock clock.PassiveClock) (*Storage, error) {
	strategy := newStrategy(scheme)
	main, err := stored.New(stored.Kind{
		Resource:    inferencecache.Resource("cachepolicies"),
		Singular:    inferencecache.Resource("cachepolicy"),
		ShortNames:  []string{"cpol"},
		NewFunc:     func() runtime.Object { return &inferencecache.CachePolicy{} },
		NewListFunc: func() runtime.Object { return &inferencecache.CachePolicyList{} },
		Strategy:    strategy,
		Table:       newTable(clock),
		Unique:      onePerNamespace(),
	}, optsGetter)
	if err != nil {
		return nil, err
	}
	return &Storage{CachePolicy: main, Status: stored.NewStatus(main, newStatusStrategy(strategy))}, nil
}
