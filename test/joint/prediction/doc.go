/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package prediction holds the claim that this repository is about: before a
// request runs, LookupRoute says how many of its tokens the engine will reuse.
//
// Every recording of a real engine is played on real ZeroMQ sockets, a whole
// subscriber reports over gRPC with TLS to an index server, and before each
// recorded request the server is asked with the request's token ids. The answer
// is compared with what the engine said when it had run the request. An answer
// that calls itself inexact may be lower; none may be higher.
package prediction
