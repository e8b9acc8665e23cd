/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cacheindex

import (
	"context"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Reader gives the CacheIndex. It is called concurrently.
type Reader interface {
	// Get returns the CacheIndex as it is now and the revision of its content.
	// The object belongs to the caller and has no resourceVersion. Revisions
	// start anywhere, never decrease while the process runs, and change only
	// when the content does; observedBy and asOf are not content.
	Get(ctx context.Context) (*inferencecache.CacheIndex, uint64, error)
	// Subscribe returns a channel that receives after the revision has changed,
	// until ctx ends. It holds one pending signal, so that no change is lost,
	// and paces signals: watchers send an event for each. A closed channel ends
	// the watches.
	Subscribe(ctx context.Context) <-chan struct{}
}
