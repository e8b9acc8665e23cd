/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// redis is a Redis server. Its endpoint carries no scheme, because clients take
// host and port apart.
func redis() Store {
	return Store{
		Provider:  v1alpha1.StorageProviderRedis,
		Binding:   BindingRESP,
		Singleton: true,
		Password:  true,
	}
}
