/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// GroupName is the API group of every kind in this package.
const GroupName = inferencecache.GroupName

// SchemeGroupVersion is the group and version that this package registers.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

var (
	// SchemeBuilder collects what AddToScheme registers. The generated
	// conversions and the functions of this package add themselves to
	// localSchemeBuilder, which is the same object.
	SchemeBuilder      runtime.SchemeBuilder
	localSchemeBuilder = &SchemeBuilder
	// AddToScheme registers the kinds of this version, their defaults, their
	// conversions to the hub and their selectable fields.
	AddToScheme = localSchemeBuilder.AddToScheme
)

func init() {
	// The generated conversions register themselves in their own init; what is
	// written by hand joins them here, so that one AddToScheme covers both.
	localSchemeBuilder.Register(addKnownTypes, addDefaultingFuncs, addFieldLabelConversions)
}

// Resource names a resource of this group, for errors and for RBAC.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// Kind names a kind of this group.
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
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
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
