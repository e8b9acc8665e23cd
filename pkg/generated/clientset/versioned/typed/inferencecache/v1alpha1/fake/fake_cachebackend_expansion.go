/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fake is the typed client of the group for tests. It is generated but for
// the files called *_expansion.go.
package fake

import (
	"context"

	"k8s.io/client-go/testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// GetObservationAction is what a reactor for "get" on
// "cachebackends/observation" receives.
type GetObservationAction = getWithOptions[v1alpha1.CacheBackendObservationOptions]

// GetSnapshotAction is what a reactor for "get" on "cachebackends/snapshot"
// receives.
type GetSnapshotAction = getWithOptions[v1alpha1.CacheBackendSnapshotOptions]

// getWithOptions is a get with a query of its own type. It is no GetActionImpl on
// purpose: the tracker of the fake clientset would answer such a one with the
// CacheBackend itself.
type getWithOptions[O any] struct {
	testing.GetActionImpl
	// Options is the query.
	Options O
}

// DeepCopy keeps the type, which the method of the embedded action would lose.
func (a getWithOptions[O]) DeepCopy() testing.Action {
	return getWithOptions[O]{GetActionImpl: a.GetActionImpl.DeepCopy().(testing.GetActionImpl), Options: a.Options}
}

// GetObservation answers with what a reactor returns, else with an empty object.
func (c *fakeCacheBackends) GetObservation(_ context.Context, name string, options v1alpha1.CacheBackendObservationOptions) (*v1alpha1.CacheBackendObservation, error) {
	object, err := c.Fake.Invokes(GetObservationAction{
		GetActionImpl: testing.NewGetSubresourceAction(c.Resource(), c.Namespace(), "observation", name),
		Options:       options,
	}, &v1alpha1.CacheBackendObservation{})
	observation, _ := object.(*v1alpha1.CacheBackendObservation)
	return observation, err
}

// GetSnapshot answers with what a reactor returns, else with an empty object.
func (c *fakeCacheBackends) GetSnapshot(_ context.Context, name string, options v1alpha1.CacheBackendSnapshotOptions) (*v1alpha1.CacheBackendSnapshot, error) {
	object, err := c.Fake.Invokes(GetSnapshotAction{
		GetActionImpl: testing.NewGetSubresourceAction(c.Resource(), c.Namespace(), "snapshot", name),
		Options:       options,
	}, &v1alpha1.CacheBackendSnapshot{})
	snapshot, _ := object.(*v1alpha1.CacheBackendSnapshot)
	return snapshot, err
}
