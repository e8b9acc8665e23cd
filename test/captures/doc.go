/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package captures reads the recordings of real engines that lie beside it: the
// messages an engine published about its cache, the requests that caused them,
// and how many prompt tokens the engine says it reused for each.
//
// The two engines log in different formats, and in-process recordings again in
// another; the package brings them into one form, so that a test can play any of
// them: send what [Recording.FramesBefore] says, ask for a prediction, compare
// it with the request's CachedTokens. README.md says what was recorded, how, and
// which answers no reader of events can predict.
//
// Beside them lie recordings of stores, as questions and answers, which
// [LoadExchanges] reads.
//
// It is for tests and the demo; nothing that is shipped imports it.
package captures
