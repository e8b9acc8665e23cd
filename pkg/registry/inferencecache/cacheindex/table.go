/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cacheindex

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// newTable returns what "kubectl get cacheindices" prints.
func newTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.New(clock,
		table.Name[*inferencecache.CacheIndex](),
		table.Column[*inferencecache.CacheIndex]{
			Name: "Prefixes", Type: "integer",
			Description: "Number of distinct prefixes over all replicas.",
			Cell:        func(i *inferencecache.CacheIndex, _ metav1.Time) any { return i.Status.Prefixes.Summary.Total },
		},
		table.Column[*inferencecache.CacheIndex]{
			Name: "Changed", Type: "string",
			Description: "Time since the content last changed.",
			Cell:        func(i *inferencecache.CacheIndex, now metav1.Time) any { return table.Since(i.Status.LastUpdated, now) },
		},
		table.Age[*inferencecache.CacheIndex](),
		countColumn("Backends", "CacheBackends whose engines report.", func(s *inferencecache.CacheIndexStatus) int { return len(s.Backends) }),
		countColumn("Replicas", "Engine ranks that report.", func(s *inferencecache.CacheIndexStatus) int { return len(s.Replicas) }),
		countColumn("Tenants", "Tenants that own entries.", func(s *inferencecache.CacheIndexStatus) int { return len(s.Tenants) }),
		table.Column[*inferencecache.CacheIndex]{
			Name: "Complete", Type: "boolean", Wide: true,
			Description: "Whether all expected engines have told what they hold.",
			Cell:        func(i *inferencecache.CacheIndex, _ metav1.Time) any { return i.Status.Complete },
		},
		table.Column[*inferencecache.CacheIndex]{
			Name: "ObservedBy", Type: "string", Wide: true,
			Description: "Server replica that answered.",
			Cell:        func(i *inferencecache.CacheIndex, _ metav1.Time) any { return table.Text(i.Status.ObservedBy) },
		},
	)
}

// countColumn is a wide column with the length of a list.
func countColumn(name, description string, count func(*inferencecache.CacheIndexStatus) int) table.Column[*inferencecache.CacheIndex] {
	return table.Column[*inferencecache.CacheIndex]{
		Name: name, Type: "integer", Wide: true, Description: description,
		Cell: func(i *inferencecache.CacheIndex, _ metav1.Time) any { return int64(count(&i.Status)) },
	}
}
