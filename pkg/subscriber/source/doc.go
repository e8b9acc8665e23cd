/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package source follows the event stream of one engine rank without losing any
// of it unnoticed.
//
// An engine publishes numbered messages on a socket that drops what nobody takes,
// and answers requests for old ones from a bounded memory on another. The source
// listens to the first and asks the second whenever something may be missing:
// after every subscription, when a number is skipped, when a replay has a hole,
// and after a quiet time, because the loss of the last message leaves no gap.
//
// It asks from the last message that it has, not from the one after. The answer
// then begins with a known message. If that is another one under the same number,
// or if there is no answer, then the engine has started anew, however far it has
// counted meanwhile.
//
// What comes out is a sequence of batches in order, each exactly once, and
// restarts: the point from which on nothing earlier counts. When messages are
// lost for good the state that was built from them cannot be trusted, so that is
// a restart, too, with the reason.
package source
