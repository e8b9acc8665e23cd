/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"inferencecache.io/inference-cache/test/engine/wire"
)

// vocabulary is the number of tokens the pretended model knows.
const vocabulary = 32000

// ErrTooLong reports a request that the cache could not hold even when empty.
var ErrTooLong = errors.New("request does not fit the cache")

// Request is one prompt.
type Request struct {
	// Tokens is the prompt; at least one token.
	Tokens []uint32
	// MaxTokens is the number of tokens to generate; at least 1 are.
	MaxTokens int
	// Output, if set, is what is generated, whatever MaxTokens says.
	Output []uint32
	// Adapter names a LoRA adapter; Salt separates equal prompts.
	Adapter, Salt string
	// ExtraKey separates equal prompts without a trace on the wire (SGLang).
	ExtraKey string
	// Session is the session that a request names (SGLang). It changes nothing
	// but appears in the event.
	Session string
}

// Response is the engine's answer.
type Response struct {
	// CachedTokens is how many tokens of the prompt were reused, HostTokens of
	// them from the host tier.
	CachedTokens, HostTokens int
	// OutputTokens is what was generated.
	OutputTokens []uint32
}

// Engine is a simulated engine. Its methods may be called from several
// goroutines; requests run one at a time.
type Engine struct {
	cfg     Config
	dialect dialect
	metrics *metricsServer

	mu          sync.Mutex
	publisher   *wire.Publisher
	cache       cache
	codec       *codec
	random      *rand.Rand
	incarnation uint64
	sequence    uint64
	counters    counters
	// running and waiting are the load to show in the metrics.
	running, waiting int
	// dropLive and dropReplay count the coming messages to withhold.
	dropLive, dropReplay int
}

// New starts an engine: its cache is empty and its sockets are bound.
func New(cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("simulated engine: %w", err)
	}
	d, err := dialectOf(cfg.Engine, cfg.Version)
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, dialect: d}
	if err := e.start(); err != nil {
		return nil, err
	}
	e.metrics, err = serveMetrics(cfg.MetricsAddress, e)
	if err != nil {
		return nil, errors.Join(err, e.publisher.Close())
	}
	return e, nil
}

// start begins a new life of the engine process.
func (e *Engine) start() error {
	publisher, err := wire.NewPublisher(wire.Config{
		EventsAddress: e.cfg.EventsAddress,
		ReplayAddress: e.cfg.ReplayAddress,
		Form:          e.dialect.replay,
		BufferSteps:   e.cfg.BufferSteps,
	})
	if err != nil {
		return fmt.Errorf("simulated engine: %w", err)
	}
	e.publisher = publisher
	e.cfg.EventsAddress = publisher.EventsAddr().String()
	e.cfg.ReplayAddress = publisher.ReplayAddr().String()
	e.incarnation++
	e.random = rand.New(rand.NewPCG(e.cfg.Seed, e.incarnation))
	e.sequence, e.counters = 0, counters{}
	e.codec = &codec{
		dialect:    e.dialect,
		blockSize:  e.cfg.BlockSize,
		rank:       e.cfg.Rank,
		digests:    e.cfg.HashBytes,
		adapterIDs: map[string]int{},
	}
	if e.cfg.Engine == VLLM {
		// Unless its seed is pinned an engine's hashes change with every start.
		root := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, e.random.Uint64()))
		e.cache = newPaged(e.cfg, root, e.dialect.fifo)
		return nil
	}
	e.cache = newRadix(e.cfg, e.dialect)
	return e.publish(e.cache.reset())
}

// Request runs one prompt to its end. When it returns, everything it changed in
// the cache has been given to the sockets.
func (e *Engine) Request(ctx context.Context, r Request) (Response, error) {
	if err := ctx.Err(); err != nil {
		return Response{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(r.Tokens) == 0 {
		return Response{}, errors.New("request has no tokens")
	}
	output := e.output(r)
	blocks := (len(r.Tokens) + len(output) + e.cfg.BlockSize - 1) / e.cfg.BlockSize
	if blocks*len(e.cfg.Groups) > e.cfg.Blocks {
		return Response{}, fmt.Errorf("%d tokens: %w", len(r.Tokens)+len(output), ErrTooLong)
	}
	s := &sequence{Request: r}
	device, host, batches := e.cache.admit(s)
	if err := e.publish(batches); err != nil {
		return Response{}, err
	}
	// The last token is never an input, so nothing of it is kept.
	for _, token := range output[:len(output)-1] {
		s.tokens = append(s.tokens, token)
		if err := e.publish(e.cache.extend(s)); err != nil {
			return Response{}, err
		}
	}
	if err := e.publish(e.cache.finish(s)); err != nil {
		return Response{}, err
	}
	e.counters.add(len(r.Tokens), len(output), device, host)
	return Response{CachedTokens: device + host, HostTokens: host, OutputTokens: output}, nil
}

func (e *Engine) output(r Request) []uint32 {
	if len(r.Output) > 0 {
		return r.Output
	}
	output := make([]uint32, max(1, r.MaxTokens))
	for i := range output {
		output[i] = e.random.Uint32N(vocabulary)
	}
	return output
}

// publish sends each batch as one message.
func (e *Engine) publish(batches [][]event) error {
	for _, events := range batches {
		now := float64(e.cfg.Now().UnixMicro()) / 1e6
		payload, err := e.codec.encode(now, events)
		if err != nil {
			return err
		}
		m := wire.Message{Topic: []byte(e.cfg.Topic), Sequence: e.sequence, Payload: payload}
		e.sequence++
		if err := e.deliver(m); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) deliver(m wire.Message) error {
	live, replay := e.dropLive == 0, e.dropReplay == 0
	e.dropLive, e.dropReplay = max(0, e.dropLive-1), max(0, e.dropReplay-1)
	if replay {
		e.publisher.Keep(m)
	}
	if live {
		return e.publisher.Send(m)
	}
	return nil
}
