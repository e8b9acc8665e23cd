/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package routing is what a router written in Go links to ask inference-cache
// which engine should serve a prompt.
//
// A [Client] knows every replica of the index and asks one of them. [Client.Lookup]
// and [Client.LookupBatch] never fail and never outlast their deadline: what they
// return is an [Answer], and when no index could be asked, or not in time, it has
// no hint and says why in [Answer.Err]. A router that gets no hint routes as it
// would have done without one; no request ever has to wait for the index or be
// refused because of it.
//
// Every replica of the API server holds the whole index, so that any of them can
// answer. The client prefers those whose health service says that they know all
// engines, then those it knows nothing about, then those that still miss some, and
// last those that failed or came too late; among equals it takes the one with
// fewer lookups in flight of two. The next replica is asked as well when a quarter
// of the time has gone by without an answer, and at once when a replica fails or
// admits that it misses something that the next one may know. The first complete
// answer counts.
//
// Replicas are found by name and looked up again on a timer, so that they may come
// and go. Each has one connection with TLS and a bearer token. Files are read
// again while the client runs: the authorities for every new connection, the token
// every few seconds, because the kubelet replaces both.
//
// Lookups of ordinary size share one stream per connection, which costs client and
// server together about half of what a call of its own does. Large ones, those
// with text, and all of them while there is no stream, are calls of their own. So
// are those on a stream that stands still for half of [Options.Timeout], or on which
// answers and lookups do not match: it is given up, and they are asked again in the
// time that is left.
//
// Token ids can be hashed here ([Query.BlockSize]); then they do not leave the
// router, and a prompt costs half a byte per token on the wire. Whoever does not
// know the block size of the engines sends the ids, and the index hashes them with
// the sizes that it has learned.
package routing
