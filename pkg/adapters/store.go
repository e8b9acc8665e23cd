/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Store declares one storage provider.
type Store struct {
	// Provider names it in the API.
	Provider v1alpha1.StorageProvider
	// Binding is the protocol that it speaks.
	Binding Binding
	// Schemes are the URL schemes that an endpoint may carry. A bare host:port is
	// always understood.
	Schemes []string
	// Singleton says that a managed store has exactly one Pod: several behind one
	// Service would each hold a part of the blocks without knowing of the others.
	Singleton bool
	// HostNetwork says that the Pods of a managed store run on their node's network.
	HostNetwork bool
	// EngineHostNetwork says whether engines reach the store better, or only, from
	// their node's network.
	EngineHostNetwork bool
	// Password says whether the engines' clients can log in with one.
	Password bool
}
