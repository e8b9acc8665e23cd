/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// Config returns the configuration with every default and address filled in.
func (e *Engine) Config() Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg
}

// EventsEndpoint is the PUB socket as a subscriber connects to it.
func (e *Engine) EventsEndpoint() string { return "tcp://" + e.Config().EventsAddress }

// ReplayEndpoint is the ROUTER socket as a subscriber connects to it.
func (e *Engine) ReplayEndpoint() string { return "tcp://" + e.Config().ReplayAddress }

// MetricsURL is where GET answers in the Prometheus text format.
func (e *Engine) MetricsURL() string { return "http://" + e.metrics.address() + "/metrics" }

// Messages is the number of messages published in this life of the engine,
// withheld ones included. The newest sequence is one less.
func (e *Engine) Messages() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sequence
}

// WaitSubscribed returns when somebody has subscribed to the events, or with the
// error of ctx.
func (e *Engine) WaitSubscribed(ctx context.Context) error {
	e.mu.Lock()
	publisher := e.publisher
	e.mu.Unlock()
	return publisher.WaitSubscribed(ctx)
}

// DropLive withholds the next messages from subscribers; a replay still has
// them.
func (e *Engine) DropLive(messages int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropLive = messages
}

// Lose withholds the next messages from subscribers and from replays, as if
// they had fallen out of the buffer.
func (e *Engine) Lose(messages int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropLive, e.dropReplay = messages, messages
}

// SetLoad sets the numbers of running and waiting requests in the metrics. An
// engine that runs one request at a time has no load of its own to show.
func (e *Engine) SetLoad(running, waiting int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running, e.waiting = running, waiting
}

// ResetPrefixCache forgets everything cached. vLLM announces it together with
// its next step, SGLang at once.
func (e *Engine) ResetPrefixCache() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.publish(e.cache.reset())
}

// Restart is the death and new start of the engine process at the same
// addresses: the cache is empty, sequences and counters begin at zero, and
// vLLM's hashes are others than before.
func (e *Engine) Restart() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.publisher.Close(); err != nil {
		return err
	}
	// Somebody's connection may have been given one of the ports for a moment.
	const patience, pause = 10 * time.Second, 50 * time.Millisecond
	for deadline := time.Now().Add(patience); ; <-time.After(pause) {
		err := e.start()
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			return err
		}
	}
}

// Close ends the engine. It may be called once.
func (e *Engine) Close() error {
	e.mu.Lock()
	publisher := e.publisher
	e.mu.Unlock()
	return errors.Join(e.metrics.close(), publisher.Close())
}
