/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package routing answers LookupRoute: it turns what a caller knows of a prompt
// into block chains, asks the index who holds them, and ranks the answers.
//
// A lookup never fails. Whatever goes wrong is an answer with a reason code and,
// on request, an explanation; any reason but PREFIX_MATCH means that the caller
// should route as it would without the index, taking the replicas in the answer
// as a hint. The package reads no clock and no randomness, so equal input over
// an equal index gives an equal answer.
package routing
