/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +k8s:conversion-gen=inferencecache.io/inference-cache/pkg/apis/inferencecache
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=io.inferencecache.inference-cache.pkg.apis.inferencecache.v1alpha1
// +groupName=inferencecache.io

// Package v1alpha1 is what clients of the group inferencecache.io read and
// write.
//
// Three kinds are stored: CacheBackend, CachePolicy and CacheTenant. The others
// are virtual: the server computes them from its live index when they are asked
// for, and nothing of them survives a restart. CacheBackendObservation and
// CacheBackendSnapshot are read as subresources of a CacheBackend, CacheIndex is
// the aggregate of the whole cluster. RouteLookup, and CacheBackendProbe as another
// subresource, are created to ask a question whose answer comes back in the status.
//
// Literal defaults live here and are applied whenever an object is decoded;
// a value that somebody set is never replaced. Everything that depends on more
// than the object itself belongs to the strategy of the resource instead.
//
// The version is alpha: fields may change between releases. A counter that no
// engine reports is absent, which is not the same as zero.
package v1alpha1
