/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the name of the API group.
const GroupName = "inferencecache.io"

// ProbeTenantID is the tenant under which functional probes report and look up.
// No CacheTenant may claim it.
const ProbeTenantID = "inferencecache.io/probe"

// SchemeGroupVersion is the group with the version of the hub.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}

var (
	// SchemeBuilder collects what AddToScheme registers.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme registers the kinds of the hub.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Kind names a kind of this group.
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource names a resource of this group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&CacheBackend{}, &CacheBackendList{},
		&CacheBackendObservation{}, &CacheBackendObservationOptions{},
		&CacheBackendProbe{},
		&CacheBackendSnapshot{}, &CacheBackendSnapshotOptions{},
		&CacheIndex{}, &CacheIndexList{},
		&CachePolicy{}, &CachePolicyList{},
		&CacheTenant{}, &CacheTenantList{},
		&RouteLookup{},
	)
	return nil
}
