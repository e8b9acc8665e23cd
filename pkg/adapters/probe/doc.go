/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package probe says what checking a store means, for all providers: what is
// checked, in which time, and what can come of it.
//
// A probe tells three outcomes apart. OK is only said of a store that was seen to
// do its work. Failed is only said of one that was seen not to. Everything else,
// such as a protocol that is not understood, is Unknown, and nothing may be
// concluded from it.
package probe
