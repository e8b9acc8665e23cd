/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// newTable returns what "kubectl get cachebackends" prints.
func newTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.New(clock, append(narrowColumns(), wideColumns()...)...)
}

// narrowColumns are the columns that are always shown.
func narrowColumns() []table.Column[*inferencecache.CacheBackend] {
	return []table.Column[*inferencecache.CacheBackend]{
		table.Name[*inferencecache.CacheBackend](),
		{
			Name: "Type", Type: "string",
			Description: "Cache implementation on the side of the engines.",
			Cell:        func(b *inferencecache.CacheBackend, _ metav1.Time) any { return table.Text(b.Spec.Type) },
		},
		{
			Name: "Ready", Type: "string",
			Description: "Status of the condition Ready.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				return table.Condition(b.Status.Conditions, v1alpha1.ConditionReady)
			},
		},
		{
			Name: "Matched", Type: "integer",
			Description: "Number of engine Pods that the backend claims.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				return table.Count(b.Status.MatchedEnginePods)
			},
		},
		{
			Name: "Endpoint", Type: "string",
			Description: "Address of the remote tier.",
			Cell:        func(b *inferencecache.CacheBackend, _ metav1.Time) any { return table.Text(b.Status.Endpoint) },
		},
		{
			Name: "Prefixes", Type: "integer",
			Description: "Number of distinct prefixes in the index, as last recorded in the status.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				if b.Status.IndexParticipation == nil {
					return table.None
				}
				return b.Status.IndexParticipation.PrefixCount
			},
		},
		{
			Name: "LastEvent", Type: "string",
			Description: "Time since the latest KV event, as last recorded in the status.",
			Cell: func(b *inferencecache.CacheBackend, now metav1.Time) any {
				if b.Status.IndexParticipation == nil {
					return table.None
				}
				return table.Since(b.Status.IndexParticipation.LastEventAt, now)
			},
		},
		table.Age[*inferencecache.CacheBackend](),
	}
}

// wideColumns are the columns that -o wide adds.
func wideColumns() []table.Column[*inferencecache.CacheBackend] {
	return []table.Column[*inferencecache.CacheBackend]{
		{
			Name: "Runtime", Type: "string", Wide: true,
			Description: "Inference engine.",
			Cell:        func(b *inferencecache.CacheBackend, _ metav1.Time) any { return table.Text(b.Spec.Runtime) },
		},
		{
			Name: "Mode", Type: "string", Wide: true,
			Description: "What the engines are wired for.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				if b.Spec.Integration == nil {
					return table.None
				}
				return table.Text(b.Spec.Integration.Mode)
			},
		},
		{
			Name: "Provider", Type: "string", Wide: true,
			Description: "Technology of the remote tier.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				if b.Spec.RemoteStorage == nil {
					return table.None
				}
				return table.Text(b.Spec.RemoteStorage.Provider)
			},
		},
		{
			Name: "Ownership", Type: "string", Wide: true,
			Description: "Who runs the remote tier.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				if b.Spec.RemoteStorage == nil {
					return table.None
				}
				return table.Text(b.Spec.RemoteStorage.Ownership)
			},
		},
		{
			Name: "Replicas", Type: "integer", Wide: true,
			Description: "Wanted number of replicas of the managed workload.",
			Cell:        func(b *inferencecache.CacheBackend, _ metav1.Time) any { return table.Count(b.Spec.Replicas) },
		},
		{
			Name: "Reason", Type: "string", Wide: true,
			Description: "Reason of the condition Ready.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				return table.Reason(b.Status.Conditions, v1alpha1.ConditionReady)
			},
		},
		{
			Name: "Degraded", Type: "string", Wide: true,
			Description: "Reason of the condition Degraded.",
			Cell: func(b *inferencecache.CacheBackend, _ metav1.Time) any {
				return table.Reason(b.Status.Conditions, v1alpha1.ConditionDegraded)
			},
		},
	}
}
