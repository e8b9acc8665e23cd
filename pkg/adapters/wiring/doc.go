/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package wiring has what the injection of every engine shares: what an injection
// is asked (Request), how it declines (Refusal), which container of a Pod is the
// engine, what its command line says, and edits of containers and volumes.
//
// An injection is a function of a Pod and a Request. It changes the Pod it is
// given, which is a copy that is thrown away when it declines, so that a Pod is
// either wired completely or not at all. Applied to its own result it changes
// nothing: a cluster may ask several times about one Pod.
//
// Everything here works on values. Nothing is read from a cluster, a clock or an
// environment, and nothing is shared between calls.
package wiring
