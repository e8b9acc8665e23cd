/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// checkOptions refuses query parameters that a virtual subresource cannot
// honour. A watch is refused in words: a plain read in its place would look to
// the client like a stream that ended.
func checkOptions(subresource string, tier string, watch bool) error {
	if watch {
		return apierrors.NewMethodNotSupported(inferencecache.Resource("cachebackends/"+subresource), "watch")
	}
	switch inferencecache.CacheTier(tier) {
	case "", inferencecache.CacheTierT1, inferencecache.CacheTierT2, inferencecache.CacheTierT3:
		return nil
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("tier: unsupported value %q: supported values: %q, %q, %q", tier,
			inferencecache.CacheTierT1, inferencecache.CacheTierT2, inferencecache.CacheTierT3))
	}
}
