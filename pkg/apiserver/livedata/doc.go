/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package livedata shows the live index to the registry.
//
// The registry declares what it wants to know in API types; the index and the
// router answer in their own. Each file here implements one of the registry's
// interfaces by translating between the two, and decides nothing else:
//
//	observation.go   cachebackends/observation
//	snapshot.go      cachebackends/snapshot
//	cacheindex.go    cacheindices
//	route.go         routelookups
//	probe.go         cachebackends/probe
//
// Every answer names the replica that gave it (observedBy), when (asOf), and
// whether the index had the state of everybody it expects (complete). Lists are
// in the order of the index, so replicas in equal state give equal answers but
// for those fields. A counter that no engine reported is absent, never zero.
//
// A probe is the only one that writes: what it reports is seen by itself alone, and gone
// with its answer.
//
// Reading costs what it returns: the number of engine ranks, or the items of a
// page, never the number of blocks that the index holds.
package livedata
