/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/stored"
)

// Storage holds the REST storage of cachetenants and its subresource.
type Storage struct {
	// CacheTenant is the main resource.
	CacheTenant *stored.REST
	// Status is the subresource status.
	Status *stored.StatusREST
}

// NewStorage returns the storage of cachetenants. namespaces knows whose name may
// not be a tenantID elsewhere.
func NewStorage(scheme runtime.ObjectTyper, optsGetter generic.RESTOptionsGetter, clock clock.PassiveClock, namespaces Namespaces) (*Storage, error) {
	strategy := newStrategy(scheme, namespaces)
	main, err := stored.New(stored.Kind{
		Resource:    inferencecache.Resource("cachetenants"),
		Singular:    inferencecache.Resource("cachetenant"),
		ShortNames:  []string{"ct"},
		NewFunc:     func() runtime.Object { return &inferencecache.CacheTenant{} },
		NewListFunc: func() runtime.Object { return &inferencecache.CacheTenantList{} },
		Strategy:    strategy,
		Table:       newTable(clock),
		Unique:      oneOwner(),
	}, optsGetter)
	if err != nil {
		return nil, err
	}
	return &Storage{CacheTenant: main, Status: stored.NewStatus(main, newStatusStrategy(strategy))}, nil
}
