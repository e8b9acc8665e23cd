//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/test/engine/progress"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/engine/wire"
	"inferencecache.io/inference-cache/test/programs"
)

// pool is how many blocks an engine has: the conversations need many times that.
const pool = 160

// kinds are the engines of the soak. All of them announce salts and adapters.
func kinds() []sim.Config {
	return []sim.Config{
		{},
		{Groups: []sim.Group{{Window: 40}, {}}},
		{Engine: sim.SGLang},
		{Engine: sim.SGLang, HostBlocks: 200},
		{HashBytes: true},
		{Version: "0.22.1"},
		{Engine: sim.SGLang, BlockSize: 8},
		{},
	}
}

// engine is a simulated engine with its subscriber. Only requests may come from
// several goroutines.
type engine struct {
	*sim.Engine
	name, dir string
	servers   []*server
	// subscriber is nil while it is dead; metrics is where it shows its own.
	subscriber *programs.Process
	metrics    string
	// settled: the subscriber knows the engine as it is, but for what it has said
	// since. restarts are those of the engine since the subscriber began.
	settled  bool
	restarts int
	// lossy: something of this life of the engine can never be had again, so what
	// is known about it may be less than the truth.
	lossy bool
}

func startEngine(t *testing.T, servers []*server, dir string, number int) *engine {
	t.Helper()
	config := kinds()[number%len(kinds())]
	config.Seed, config.Blocks = *seed+uint64(number), pool
	e := &engine{name: fmt.Sprintf("engine-%d", number), dir: dir, servers: servers}
	for _, address := range []*string{&config.EventsAddress, &config.ReplayAddress, &e.metrics} {
		var err error
		if *address, err = programs.FreeAddress(); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if e.Engine, err = sim.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := e.Close()
		if e.subscriber != nil {
			err = errors.Join(err, e.subscriber.Kill())
		}
		if err != nil {
			// The log goes with the test.
			t.Errorf("%v\n%s", err, programs.Tail(e.log()))
		}
	})
	return e
}

func (e *engine) log() string { return filepath.Join(e.dir, e.name+".log") }

// subscribe starts the subscriber if it is dead. A new one learns from replays
// what the engine still repeats.
func (e *engine) subscribe() error {
	if e.subscriber != nil {
		return nil
	}
	first := e.servers[0]
	_, port, _ := strings.Cut(first.Address(), ":")
	var err error
	e.subscriber, err = binaries.Start(programs.Command{
		Path: binaries.subscriber, Log: e.log(), Tied: true, Env: []string{indexAddresses + "=" + strings.Join(loopbacks(), ",")},
		Args: []string{
			"--engine-endpoint=" + e.EventsEndpoint(), "--engine-replay-endpoint=" + e.ReplayEndpoint(),
			"--engine-metrics-url=" + e.MetricsURL(), "--stats-interval=1s", "--hash-scheme=" + e.Config().Engine,
			"--server=" + indexName + ":" + port, "--tls-server-name=localhost",
			"--token-file=" + first.TokenFile(), "--ca-file=" + first.CAFile(),
			"--replica-id=" + e.name, "--tenant-id=" + tenant, "--model-id=" + model, "--backend=" + backend,
			"--window=5ms", "--metrics-bind-address=" + e.metrics,
		},
	})
	e.settled, e.restarts = false, 0
	e.lossy = e.lossy || e.Messages() > wire.DefaultBufferSteps
	return err
}

// killSubscriber lets the subscriber die, if it is alive.
func (e *engine) killSubscriber() error {
	if e.subscriber == nil {
		return nil
	}
	err := e.subscriber.Kill()
	e.subscriber = nil
	return err
}

// restart lets the engine die and start anew. A subscriber notices one death
// between two quiet points for certain, if it knew the engine before; of others
// nobody could say whether it has.
func (e *engine) restart() (bool, error) {
	if e.subscriber != nil && !e.settled {
		return false, nil
	}
	e.DropLive(0)
	e.Lose(0)
	binaries.Lock()
	defer binaries.Unlock()
	if e.subscriber != nil {
		e.restarts++
	}
	e.lossy, e.settled = false, false
	return true, e.Restart()
}

// heal ends what withholds messages, and makes the engine say something after
// it: what is missing is noticed from what follows.
func (e *engine) heal(ctx context.Context, l *load, reset bool) error {
	e.DropLive(0)
	e.Lose(0)
	if err := e.subscribe(); err != nil {
		return err
	}
	if e.lossy && reset {
		if err := e.ResetPrefixCache(); err != nil {
			return err
		}
		e.lossy = false
	}
	return e.speak(ctx, l)
}

// speak makes the engine say something.
func (e *engine) speak(ctx context.Context, l *load) error {
	for before := e.Messages(); e.Messages() == before; {
		if err := l.serve(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// await returns when both servers have all that the engine has said. It is certain
// of that when they have acknowledged a delta, and then another one: a number may
// be that of an epoch before.
func (e *engine) await(ctx context.Context, l *load) error {
	ctx, cancel := context.WithTimeout(ctx, programs.Patience)
	defer cancel()
	for before := -1.0; ; {
		to := progress.Point{Sequence: int64(e.Messages()) - 1, Restarts: e.restarts, Replicas: len(e.servers)}
		if err := progress.Await(ctx, e.metrics, to); err != nil {
			return fmt.Errorf("%s: %w\n%s", e.name, err, programs.Tail(e.log()))
		}
		now, err := progress.Deltas(ctx, e.metrics)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		if before >= 0 && now != before {
			e.settled = true
			return nil
		}
		before = now
		if err := e.speak(ctx, l); err != nil {
			return err
		}
	}
}
