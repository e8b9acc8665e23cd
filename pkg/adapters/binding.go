/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

// Binding is the protocol between an engine's cache and a store.
type Binding string

const (
	// BindingHostOnly is the absence of a store: blocks stay on the engine's host.
	BindingHostOnly Binding = ""
	// BindingLM is the protocol of LMCache's own server.
	BindingLM Binding = "lm"
	// BindingRESP is the protocol of Redis.
	BindingRESP Binding = "resp"
	// BindingMooncake is the protocol of a Mooncake store.
	BindingMooncake Binding = "mooncakestore"
)
