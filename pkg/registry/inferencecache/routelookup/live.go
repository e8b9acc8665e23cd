/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routelookup

import (
	"context"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Lookuper answers a RouteLookup. It is called concurrently.
type Lookuper interface {
	// Lookup fills in the status of a valid lookup that was made in namespace.
	// It has no effect besides. Which tenants a namespace may ask about is for
	// the Lookuper to decide. A lookup that finds nothing is an answer with a
	// reason, not an error.
	Lookup(ctx context.Context, namespace string, lookup *inferencecache.RouteLookup) error
}
