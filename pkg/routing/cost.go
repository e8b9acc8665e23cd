/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// Defaults of the cost model. They stand for a model of 8 billion parameters
// with grouped-query attention in bf16 on one data-centre GPU; what matters for
// the ranking is how they relate, and that hardly differs between models: a
// larger one computes a token more slowly and also has more of it to load.
const (
	// DefaultPrefillRate in prompt tokens per second: 16 GFLOP per token at about
	// 130 TFLOP/s, which is what is left of such a GPU beside decoding.
	DefaultPrefillRate = 8000
	// DefaultT2Rate in tokens per second: 128 KiB of keys and values per token over
	// a PCIe 4 link of 16 lanes at about half of its 25 GB/s.
	DefaultT2Rate = 100_000
	// DefaultT3Rate in tokens per second: the same bytes over a network of 25 Gbit/s
	// at about 2.6 GB/s.
	DefaultT3Rate = 20_000
	// DefaultWaitingTokens is the prompt length of a request that waits, of which
	// the index knows only that there is one: about the mean of public traces of
	// conversations.
	DefaultWaitingTokens = 1000
	// DefaultRunningDelay is what a running request adds to the engine's steps, of
	// which a new prompt needs at least one.
	DefaultRunningDelay = time.Millisecond
	// DefaultStatsMaxAge is four missed scrapes of 10 seconds and some slack.
	DefaultStatsMaxAge = 45 * time.Second
)

// measuredRange bounds how far a measured rate may be from the configured one, as
// a factor: a measurement of a few odd seconds must not decide everything.
const measuredRange = 8

// Costs are the figures of the cost model, in the units in which they are used.
type Costs struct {
	// Prefill, T2 and T3 are the milliseconds to compute one token and to load one
	// from either tier. What lies in T1 costs nothing.
	Prefill, T2, T3 float64
	// WaitingTokens is how many tokens a waiting request has to have computed.
	WaitingTokens float64
	// Running is the milliseconds that one running request costs.
	Running float64
	// StatsMaxAge is the age from which statistics count as absent.
	StatsMaxAge time.Duration
}

// DefaultCosts returns the figures of a policy that sets none.
func DefaultCosts() Costs {
	return Costs{
		Prefill: PerToken(DefaultPrefillRate), T2: PerToken(DefaultT2Rate), T3: PerToken(DefaultT3Rate),
		WaitingTokens: DefaultWaitingTokens, Running: Milliseconds(DefaultRunningDelay), StatsMaxAge: DefaultStatsMaxAge,
	}
}

// PerToken is the milliseconds that one token takes at a rate in tokens per second.
func PerToken(rate int64) float64 { return 1000 / float64(max(rate, 1)) }

// Milliseconds of a duration, with their fraction.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// queue is the time in milliseconds that an engine needs for what it already
// has, and whether its statistics say anything about that: they have to be there
// and no older than oldest.
func (c *Costs) queue(s *index.Stats, oldest time.Time) (float64, bool) {
	if s == nil || (s.Running == nil && s.Waiting == nil) || s.Time.Before(oldest) {
		return 0, false
	}
	var ms float64
	if s.Waiting != nil {
		ms = float64(*s.Waiting) * c.WaitingTokens * c.drain(s)
	}
	if s.Running != nil {
		ms += float64(*s.Running) * c.Running
	}
	return ms, true
}

// drain is the milliseconds per token in which an engine works off its queue: as
// measured while it had one, else as configured.
func (c *Costs) drain(s *index.Stats) float64 {
	if s.PrefillRate == nil {
		return c.Prefill
	}
	return min(max(1000 / *s.PrefillRate, c.Prefill/measuredRange), c.Prefill*measuredRange)
}

// Cost is the expected time to the first token on one replica, in milliseconds.
type Cost struct {
	// Queue is the wait for what the engine already has.
	Queue float64
	// Reload is the time to load the matched tokens from T2 and T3.
	Reload float64
	// Prefill is the time to compute the others.
	Prefill float64
}

// TTFT is the expected time to the first token.
func (c Cost) TTFT() float64 { return c.Queue + c.Reload + c.Prefill }
