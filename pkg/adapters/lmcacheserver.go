/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// lmCacheServer is LMCache's own server. Its replicas are caches of their own: a
// miss on one of them is a miss, never a wrong answer, so that it may be scaled.
func lmCacheServer() Store {
	return Store{
		Provider: v1alpha1.StorageProviderLMCacheServer,
		Binding:  BindingLM,
		Schemes:  []string{"lm"},
	}
}
