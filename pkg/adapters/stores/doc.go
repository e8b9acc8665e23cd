/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package stores finds the code of a storage provider: what renders it and what
// checks it. It also answers what every user of a store asks of a backend, where
// the store is and what its password is, without naming a provider.
//
// It is apart from pkg/adapters, which declares the providers, because what they
// do is built on what they declare.
package stores
