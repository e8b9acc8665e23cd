/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"errors"
	"fmt"
	"time"

	"inferencecache.io/inference-cache/test/engine/wire"
)

// The engines that can be simulated, as values of [Config.Engine].
const (
	VLLM   = "vllm"
	SGLang = "sglang"
)

// Config describes a simulated engine. The zero value of a field means the
// default that its comment names.
type Config struct {
	// Engine is [VLLM] (the default) or [SGLang].
	Engine string
	// Version selects the wire: what events look like and how replays are
	// framed. Defaults: 0.32.0 for vLLM, 0.5.23 for SGLang. The oldest are 0.9
	// and 0.5.6.
	Version string
	// Model is the name in the metrics; default tiny-llama.
	Model string
	// BlockSize is the number of tokens of a block or page; default 16.
	BlockSize int
	// Blocks is the number of usable blocks; default 256.
	Blocks int
	// Groups are the KV-cache groups of a vLLM model, in the order in which it
	// announces them. Default: one group with full attention.
	Groups []Group
	// HostBlocks is the size of SGLang's host tier; default 0, no host tier.
	HostBlocks int
	// HashBytes makes vLLM send digests of 32 bytes instead of integers.
	HashBytes bool
	// Topic is the topic of all messages; default empty.
	Topic string
	// Rank is the data-parallel rank that every batch carries.
	Rank int
	// Seed decides output tokens and the engine's own hashes.
	Seed uint64
	// BufferSteps, EventsAddress and ReplayAddress are those of [wire.Config].
	BufferSteps                  int
	EventsAddress, ReplayAddress string
	// MetricsAddress is the host:port of GET /metrics; default a free loopback
	// port.
	MetricsAddress string
	// Now stamps batches; default time.Now.
	Now func() time.Time
}

// Group is one KV-cache group.
type Group struct {
	// Window is the sliding window in tokens; 0 is full attention.
	Window int
}

// blocks is the number of blocks before the end of a reused prefix that the
// group must hold.
func (g Group) blocks(blockSize int) int {
	return (g.Window - 1 + blockSize - 1) / blockSize
}

func (c Config) withDefaults() Config {
	if c.Engine == "" {
		c.Engine = VLLM
	}
	if c.Version == "" {
		c.Version = map[string]string{VLLM: "0.32.0", SGLang: "0.5.23"}[c.Engine]
	}
	if c.Model == "" {
		c.Model = "tiny-llama"
	}
	if c.BlockSize == 0 {
		c.BlockSize = 16
	}
	if c.Blocks == 0 {
		c.Blocks = 256
	}
	if len(c.Groups) == 0 {
		c.Groups = []Group{{}}
	}
	if c.BufferSteps == 0 {
		c.BufferSteps = wire.DefaultBufferSteps
	}
	if c.MetricsAddress == "" {
		c.MetricsAddress = "127.0.0.1:0"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func (c Config) validate() error {
	if c.BlockSize < 0 || c.Blocks < 0 || c.HostBlocks < 0 || c.BufferSteps < 0 || c.Rank < 0 {
		return errors.New("sizes and ranks are not negative")
	}
	for i, group := range c.Groups {
		if group.Window < 0 || group.Window == 1 {
			return fmt.Errorf("group %d: a window has at least 2 tokens, got %d", i, group.Window)
		}
	}
	switch c.Engine {
	case VLLM:
		if c.HostBlocks > 0 {
			return errors.New("the host tier is SGLang's")
		}
	case SGLang:
		if len(c.Groups) != 1 || c.Groups[0].Window != 0 || c.HashBytes {
			return errors.New("groups and digests are vLLM's")
		}
	default:
		return fmt.Errorf("unknown engine %q, want %s or %s", c.Engine, VLLM, SGLang)
	}
	return nil
}
