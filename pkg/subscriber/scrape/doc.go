/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package scrape reads an engine's own metrics: how loaded it is, how full its
// cache is, how much of what was asked it found there.
//
// vLLM and SGLang use different names and meanings for the same things, which
// [Parse] brings into one form per data-parallel rank. What an engine does not
// report stays absent; it is never taken for zero. Without the number of running
// and of waiting requests nothing is believed: then the page is not an engine's.
//
// A [Scraper] does so again and again, and asks the engine once for its version.
// Counters of an engine that has started anew go on from where they were.
package scrape
