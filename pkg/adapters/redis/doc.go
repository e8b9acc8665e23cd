/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package redis runs a Redis and speaks to it.
//
// Render describes a managed Redis that is a cache and nothing else: nothing is
// written to disk, and the least recently used keys make room for new ones. Unless
// the backend says otherwise it asks its clients for a password.
//
// Probe finds out whether a Redis, managed or not, stores what it is given and
// gives it back, with the credentials of the engines.
package redis
