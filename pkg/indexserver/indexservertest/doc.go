/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package indexservertest runs an index server in a test: the real service on a
// real socket with TLS and a token, over an index that the test can see and a
// clock that it steps. Stream speaks the report protocol message by message.
package indexservertest
