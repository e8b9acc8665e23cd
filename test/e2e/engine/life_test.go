//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	tenant = "team"
	// pod is the name of the only engine.
	pod = "engine-0"
	// answerTokens bounds what the engine generates in one turn.
	answerTokens = 24
)

// life is an engine with everything around it, from beginning to end.
type life struct {
	model  model
	dir    string
	random *rand.Rand
	load   *sim.Workload

	engine   *engine
	recorder *recorder
	stream   *stream
	server   *programs.Server
	// subscriber is nil while it is dead; metrics is where it shows its own.
	subscriber *programs.Process
	metrics    string

	// since is when the newest subscriber or engine was started: what the server
	// knows from an earlier session is not it.
	since time.Time
	// restarts is how often the engine has started anew under this subscriber.
	restarts int
	results  results
}

// newLife starts everything and waits until the engine serves.
func newLife(ctx context.Context, m model, dir string, seed uint64) (_ *life, err error) {
	l := &life{
		model: m, dir: dir, recorder: &recorder{dir: dir}, results: results{},
		random: rand.New(rand.NewPCG(seed, 1)),
		load: sim.NewWorkload(sim.WorkloadConfig{
			Seed: seed, Vocabulary: vocabulary, MaxTokens: m.maxTokens, AnswerTokens: answerTokens,
			Conversations: 8, Systems: 4, SystemTokens: 3*blockSize + 11, Salted: 25, Branching: 30,
		}),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if err := l.recorder.next(); err != nil {
		return nil, err
	}
	if l.engine, err = newEngine(m, dir, l.recorder); err != nil {
		return nil, err
	}
	if l.metrics, err = programs.FreeAddress(); err != nil {
		return nil, err
	}
	if l.server, err = programs.StartServer(ctx, &binaries.Starting, binaries.server, dir); err != nil {
		return nil, err
	}
	if err := l.subscribe(); err != nil {
		return nil, err
	}
	l.stream = listen(ctx, l.engine.events, l.recorder)
	return l, l.engine.start(ctx)
}

// close ends what was started.
func (l *life) close() error {
	var err error
	if l.engine != nil && l.engine.process != nil {
		err = l.engine.process.Kill()
	}
	if l.subscriber != nil {
		err = errors.Join(err, l.subscriber.Kill())
	}
	if l.server != nil {
		err = errors.Join(err, l.server.Stop())
	}
	if l.stream != nil {
		err = errors.Join(err, l.stream.close())
	}
	return errors.Join(err, l.recorder.close())
}

func (l *life) subscriberLog() string { return filepath.Join(l.dir, "subscriber.log") }

// subscribe starts the subscriber.
func (l *life) subscribe() error {
	l.since, l.restarts = time.Now(), 0
	var err error
	l.subscriber, err = binaries.Start(programs.Command{
		Path: binaries.subscriber, Log: l.subscriberLog(),
		Args: []string{
			"--engine-endpoint=" + l.engine.events, "--engine-replay-endpoint=" + l.engine.replay,
			"--engine-metrics-url=" + l.engine.metrics(), "--hash-scheme=vllm",
			"--server=" + l.server.Address(), "--token-file=" + l.server.TokenFile(), "--ca-file=" + l.server.CAFile(),
			"--replica-id=" + pod, "--tenant-id=" + tenant, "--model-id=" + l.model.name,
			"--window=5ms", "--metrics-bind-address=" + l.metrics,
		},
	})
	return err
}

// killSubscriber ends the subscriber with SIGKILL.
func (l *life) killSubscriber() error {
	err := l.subscriber.Kill()
	l.subscriber = nil
	return err
}

// restartEngine kills the engine and starts it again.
func (l *life) restartEngine(ctx context.Context) error {
	if err := l.engine.process.Kill(); err != nil {
		return err
	}
	l.since = time.Now()
	l.restarts++
	if err := l.recorder.next(); err != nil {
		return err
	}
	return l.engine.start(ctx)
}

// turn runs the next turn of a conversation, which nobody is asked about.
func (l *life) turn(ctx context.Context) error {
	conversation, request := l.load.Next()
	answer, err := l.engine.complete(ctx, "completion", request)
	if err != nil {
		return err
	}
	l.load.Answer(conversation, answer.output)
	return nil
}

// keep copies the recording and the logs to where they outlive the test.
func (l *life) keep() (string, error) {
	kept, err := os.MkdirTemp("", "inference-cache-e2e-"+l.model.name+"-")
	if err != nil {
		return "", err
	}
	for _, pattern := range []string{"*.jsonl", "*.log"} {
		files, err := filepath.Glob(filepath.Join(l.dir, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if err := os.WriteFile(filepath.Join(kept, filepath.Base(file)), content, 0o600); err != nil {
				return "", err
			}
		}
	}
	return kept, nil
}
