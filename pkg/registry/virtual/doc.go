/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package virtual holds what resources without storage share.
//
// A virtual resource is computed when it is read. Nothing of it is kept in
// etcd, so what etcd gives to a stored kind for free has to be made here, once,
// and correctly:
//
//   - Versions numbers soft state. A resourceVersion carries the epoch of the
//     process that made it, so a client that moves on to another replica is
//     told to list again instead of missing a change without a sign.
//   - Singleton serves get, list and watch of a kind that has exactly one
//     object. Its watch sends initial events, the bookmark that ends them and
//     periodic bookmarks, as reflectors need them to become synced.
//   - Parent reads the stored object that a virtual subresource hangs on,
//     before anything else is looked at: an unknown name is a 404, and tenant
//     and UID come from the object and not from the URL.
//   - Limit bounds the length of an answer and tells the client when it asked
//     for more than it gets.
//
// The package knows no live data. What it serves comes in through Source, which
// a test implements in ten lines. It never writes and it keeps no history: a
// slow watcher skips intermediate states and receives the newest one.
package virtual
