/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package adapters declares what each engine pair and each storage provider can
// do: which caches an engine is wired to, over which protocols it reaches a
// store, which of its flags and variables belong to the wiring.
//
// An engine pair is one runtime with one cache type. A store is one provider.
// The two meet in a binding, the protocol between them: a pair and a provider
// go together when the pair accepts the binding that the provider speaks.
//
// There is one file per pair and one per provider. What they declare is data:
// admission and injection read the same declarations, so that nothing is
// refused for one reason and injected for another, and neither switches over
// names. All returns every declaration. They never change while a program runs
// and may be read concurrently.
package adapters
