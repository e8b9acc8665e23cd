/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package rest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachebackend"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cacheindex"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachepolicy"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachetenant"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/routelookup"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// NewStorage returns the storage of every resource and subresource of v1alpha1,
// by path. scheme knows the kinds of the group and autoscaling/v1 Scale;
// optsGetter says where stored kinds live, adapters what a CacheBackend may ask
// for. namespaces knows those of the cluster; it is nil without one, and a
// namespace then exists when an object of ours lives in it. Each call draws a new
// epoch for the versions of soft state, so a process calls it once.
func NewStorage(scheme *runtime.Scheme, optsGetter generic.RESTOptionsGetter, adapters validation.Adapters, live LiveData,
	namespaces cachetenant.Namespaces) (map[string]rest.Storage, error) {
	if adapters == nil {
		return nil, fmt.Errorf("building the storage of v1alpha1: the declarations of the adapters are missing")
	}
	if live.Observer == nil || live.Snapshots == nil || live.Prober == nil || live.Index == nil || live.Routes == nil {
		return nil, fmt.Errorf("building the storage of v1alpha1: a source of live data is missing")
	}
	clock := clock.RealClock{}
	backends, err := cachebackend.NewStorage(scheme, optsGetter, clock, adapters, live.Observer, live.Snapshots, live.Prober)
	if err != nil {
		return nil, err
	}
	policies, err := cachepolicy.NewStorage(scheme, optsGetter, clock)
	if err != nil {
		return nil, err
	}
	stored := &occupied{}
	if namespaces == nil {
		namespaces = stored
	}
	tenants, err := cachetenant.NewStorage(scheme, optsGetter, clock, namespaces)
	if err != nil {
		return nil, err
	}
	stored.kinds = []rest.Lister{backends.CacheBackend, policies.CachePolicy, tenants.CacheTenant}
	versions := virtual.NewVersions(virtual.RandomEpoch())
	return map[string]rest.Storage{
		"cachebackends":             backends.CacheBackend,
		"cachebackends/status":      backends.Status,
		"cachebackends/scale":       backends.Scale,
		"cachebackends/observation": backends.Observation,
		"cachebackends/snapshot":    backends.Snapshot,
		"cachebackends/probe":       backends.Probe,
		"cachepolicies":             policies.CachePolicy,
		"cachepolicies/status":      policies.Status,
		"cachetenants":              tenants.CacheTenant,
		"cachetenants/status":       tenants.Status,
		"cacheindices":              cacheindex.NewREST(live.Index, versions, clock),
		"routelookups":              routelookup.NewREST(live.Routes),
	}, nil
}
