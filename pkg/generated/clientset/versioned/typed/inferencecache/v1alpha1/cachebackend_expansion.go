/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1alpha1 is the typed client of the group. It is generated but for the
// files called *_expansion.go.
package v1alpha1

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned/scheme"
)

// CacheBackendExpansion reads the virtual subresources of a CacheBackend. The
// generator cannot write these methods, because their query has options of its
// own.
type CacheBackendExpansion interface {
	// GetObservation reads what the live index knows of the CacheBackend called
	// name. Nothing is cached: every call asks the server.
	GetObservation(ctx context.Context, name string, options v1alpha1.CacheBackendObservationOptions) (*v1alpha1.CacheBackendObservation, error)
	// GetSnapshot reads one page of the chains that the CacheBackend called name
	// holds. The next page is read with the answer's Continue among the options;
	// the last page has none.
	GetSnapshot(ctx context.Context, name string, options v1alpha1.CacheBackendSnapshotOptions) (*v1alpha1.CacheBackendSnapshot, error)
}

// GetObservation implements CacheBackendExpansion.
func (c *cacheBackends) GetObservation(ctx context.Context, name string, options v1alpha1.CacheBackendObservationOptions) (*v1alpha1.CacheBackendObservation, error) {
	result := &v1alpha1.CacheBackendObservation{}
	return result, c.getSubresource(ctx, name, "observation", &options, result)
}

// GetSnapshot implements CacheBackendExpansion.
func (c *cacheBackends) GetSnapshot(ctx context.Context, name string, options v1alpha1.CacheBackendSnapshotOptions) (*v1alpha1.CacheBackendSnapshot, error) {
	result := &v1alpha1.CacheBackendSnapshot{}
	return result, c.getSubresource(ctx, name, "snapshot", &options, result)
}

func (c *cacheBackends) getSubresource(ctx context.Context, name, subresource string, options, into runtime.Object) error {
	return c.GetClient().Get().
		Namespace(c.GetNamespace()).
		Resource("cachebackends").
		Name(name).
		SubResource(subresource).
		VersionedParams(options, scheme.ParameterCodec).
		Do(ctx).
		Into(into)
}
