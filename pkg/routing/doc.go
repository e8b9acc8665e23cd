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
// as a hint.
//
// What a tenant's namespace wants of lookups is a Policy, an immutable value that
// is found without waiting. Its floors are off unless they are set. Its Costs make
// the ranking: everything is expected milliseconds to the first token, the queue
// included, and a score is what a replica saves against the best one that holds
// nothing.
//
// A lookup looks once at each replica that serves the model and at each hit. Names
// and explanations are made only for what is returned, and a Router keeps the
// memory of a lookup for later ones.
//
// The package reads no clock, no randomness and no environment: the time comes with
// the request and the deadline with the context. So equal input over an equal
// index gives an equal answer. Only a Tokenizer, which is handed in, reaches
// beyond the process.
package routing
