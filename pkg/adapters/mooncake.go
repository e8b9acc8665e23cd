/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// mooncake is a Mooncake master. Engines lend it their memory and move blocks
// between each other, which wants addresses that other nodes can reach.
func mooncake() Store {
	return Store{
		Provider:          v1alpha1.StorageProviderMooncake,
		Binding:           BindingMooncake,
		Schemes:           []string{"mooncakestore"},
		Singleton:         true,
		HostNetwork:       true,
		EngineHostNetwork: true,
	}
}
