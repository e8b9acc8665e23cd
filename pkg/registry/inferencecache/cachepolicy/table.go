/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachepolicy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// newTable returns what "kubectl get cachepolicies" prints. A wide column shows
// <none> for a floor or a deadline that is not set.
func newTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.New(clock,
		table.Name[*inferencecache.CachePolicy](),
		table.Column[*inferencecache.CachePolicy]{
			Name: "Eviction", Type: "string",
			Description: "Order in which entries are evicted at the quota.",
			Cell:        func(p *inferencecache.CachePolicy, _ metav1.Time) any { return table.Text(p.Spec.Eviction) },
		},
		table.Age[*inferencecache.CachePolicy](),
		table.Column[*inferencecache.CachePolicy]{
			Name: "TTL", Type: "string", Wide: true,
			Description: "Age at which entries are dropped.",
			Cell: func(p *inferencecache.CachePolicy, _ metav1.Time) any {
				if p.Spec.EvictionTTL == nil {
					return table.None
				}
				return p.Spec.EvictionTTL.Duration.String()
			},
		},
		table.Column[*inferencecache.CachePolicy]{
			Name: "MinMatched", Type: "integer", Wide: true,
			Description: "Least number of matched tokens of a candidate.",
			Cell: func(p *inferencecache.CachePolicy, _ metav1.Time) any {
				return table.Count(p.Spec.MinimumMatchedTokens)
			},
		},
		table.Column[*inferencecache.CachePolicy]{
			Name: "Floor", Type: "string", Wide: true,
			Description: "Least score of the best candidate, in milliseconds saved.",
			Cell:        func(p *inferencecache.CachePolicy, _ metav1.Time) any { return table.Value(p.Spec.RoutingFloorScore) },
		},
		table.Column[*inferencecache.CachePolicy]{
			Name: "TimeoutMs", Type: "integer", Wide: true,
			Description: "Deadline of a lookup, in milliseconds.",
			Cell:        func(p *inferencecache.CachePolicy, _ metav1.Time) any { return table.Count(p.Spec.LookupTimeoutMs) },
		},
		table.Column[*inferencecache.CachePolicy]{
			Name: "Affinity", Type: "string", Wide: true,
			Description: "Whether lookups without a match get an affinity hint.",
			Cell: func(p *inferencecache.CachePolicy, _ metav1.Time) any {
				if p.Spec.AffinityRouting == nil {
					return table.None
				}
				return table.Text(*p.Spec.AffinityRouting)
			},
		},
	)
}
