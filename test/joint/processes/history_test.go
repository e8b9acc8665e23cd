/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/engine/progress"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	tenant = "team"
	// steps is how much happens in one history.
	steps = 16
	// settled answers in a row show that everything has found together; all of
	// the judged ones that follow have to be right.
	settled, judged = 5, 30
)

// engines are the kinds that histories take in turn.
func engines() []sim.Config {
	return []sim.Config{
		{},
		{Groups: []sim.Group{{Window: 40}, {}}},
		{Engine: sim.SGLang},
		{Engine: sim.SGLang, HostBlocks: 200},
		{HashBytes: true},
		{Version: "0.22.1"},
		{Engine: sim.SGLang, Version: "0.5.16"},
		{Version: "0.9.2"},
	}
}

// history is the life of one engine and its subscriber.
type history struct {
	name   string
	dir    string
	random *rand.Rand
	server *programs.Server
	engine *sim.Engine
	load   *sim.Workload
	// subscriber is nil while it is dead; metrics is where it shows its own.
	subscriber *programs.Process
	metrics    string
	// lost: some message can never be had again.
	lost bool
	// kills, restarts and hits are counted for the report.
	kills, restarts, hits int
}

func newHistory(s *programs.Server, dir string, number int) (*history, error) {
	kinds := engines()
	cfg := kinds[number%len(kinds)]
	cfg.Seed, cfg.Blocks = uint64(number+1), 160
	var metrics string
	for _, address := range []*string{&cfg.EventsAddress, &cfg.ReplayAddress, &metrics} {
		var err error
		if *address, err = programs.FreeAddress(); err != nil {
			return nil, err
		}
	}
	e, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	salted := 20
	if cfg.Version == "0.9.2" || cfg.Version == "0.5.16" {
		salted = 0 // these releases do not announce salts
	}
	return &history{
		name: fmt.Sprintf("engine-%d", number), dir: dir, server: s, engine: e, metrics: metrics,
		random: rand.New(rand.NewPCG(uint64(number), 9)),
		load:   sim.NewWorkload(sim.WorkloadConfig{Seed: uint64(number), MaxTokens: 600, Conversations: 8, Salted: salted}),
	}, nil
}

// live lets everything happen that has been drawn.
func (h *history) live(ctx context.Context) error {
	for step := range steps {
		if err := h.step(ctx); err != nil {
			return fmt.Errorf("%s, step %d: %w", h.name, step, err)
		}
	}
	return nil
}

// end heals everything and judges. Nobody may kill the server meanwhile.
func (h *history) end(ctx context.Context) error {
	if err := h.heal(ctx); err != nil {
		return fmt.Errorf("%s, healing: %w", h.name, err)
	}
	if err := h.judge(ctx); err != nil {
		return fmt.Errorf("%s, in the end: %w\n%s", h.name, err, programs.Tail(filepath.Join(h.dir, h.name+".log")))
	}
	return nil
}

// close ends what the history has started.
func (h *history) close() error {
	err := h.engine.Close()
	if h.subscriber != nil {
		err = errors.Join(err, h.subscriber.Kill())
	}
	return err
}

// step lets one thing happen.
func (h *history) step(ctx context.Context) error {
	switch n := h.random.IntN(20); {
	case n < 10:
		return h.turns(ctx, 1+h.random.IntN(12))
	case n < 14:
		return h.toggleSubscriber()
	case n == 14:
		return h.server.Restart()
	case n < 17:
		h.restarts++
		binaries.Lock()
		defer binaries.Unlock()
		return h.engine.Restart()
	case n == 17:
		h.engine.DropLive(1 + h.random.IntN(3))
	case n == 18:
		h.lost = true
		h.engine.Lose(1 + h.random.IntN(3))
	default:
		return h.engine.ResetPrefixCache()
	}
	return nil
}

// turns runs some requests without asking anybody.
func (h *history) turns(ctx context.Context, n int) error {
	for range n {
		conversation, request := h.load.Next()
		response, err := h.engine.Request(ctx, request)
		if err != nil {
			return err
		}
		h.load.Answer(conversation, response.OutputTokens)
	}
	return nil
}

// toggleSubscriber kills the subscriber, or starts it; mostly both.
func (h *history) toggleSubscriber() error {
	if h.subscriber != nil {
		h.kills++
		err := h.subscriber.Kill()
		h.subscriber = nil
		if err != nil || h.random.IntN(3) == 0 {
			return err
		}
	}
	return h.subscribe()
}

func (h *history) subscribe() error {
	engine := h.engine.Config()
	var err error
	h.subscriber, err = binaries.Start(programs.Command{
		Path: binaries.subscriber, Log: filepath.Join(h.dir, h.name+".log"),
		Args: []string{
			"--engine-endpoint=" + h.engine.EventsEndpoint(), "--engine-replay-endpoint=" + h.engine.ReplayEndpoint(),
			"--engine-metrics-url=", "--hash-scheme=" + engine.Engine,
			"--server=" + h.server.Address(), "--token-file=" + h.server.TokenFile(), "--ca-file=" + h.server.CAFile(),
			"--replica-id=" + h.name, "--tenant-id=" + tenant, "--model-id=" + h.name,
			"--window=5ms", "--metrics-bind-address=" + h.metrics,
		},
	})
	return err
}

// heal ends all faults. What was lost for good does not matter any more when the
// engine has cleared its cache.
func (h *history) heal(ctx context.Context) error {
	h.engine.DropLive(0)
	h.engine.Lose(0)
	if h.subscriber == nil {
		if err := h.subscribe(); err != nil {
			return err
		}
	}
	if h.lost {
		if err := h.engine.ResetPrefixCache(); err != nil {
			return err
		}
	}
	return h.turns(ctx, 4)
}

// judge compares answers with what the engine then does. It gives everything some
// time to find together; from then on every answer has to be right.
func (h *history) judge(ctx context.Context) error {
	right := 0
	err := programs.Poll(ctx, func() error {
		err := h.compare(ctx)
		if err != nil {
			right = 0
			return err
		}
		if right++; right < settled || h.hits == 0 || !h.whole(ctx) {
			return errors.New("not settled yet")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for range judged {
		if err := h.compare(ctx); err != nil {
			return err
		}
	}
	return nil
}

// whole reports whether the server has the whole state of the engine.
func (h *history) whole(ctx context.Context) bool {
	state, err := h.server.State(ctx, tenant, h.name)
	return err == nil && len(state) == 1 && state[0].GetState() == "Live"
}

// compare asks the index and then the engine about the next turn.
func (h *history) compare(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, programs.CallTimeout)
	defer cancel()
	if err := progress.Await(waiting, h.metrics, progress.Point{Sequence: int64(h.engine.Messages()) - 1}); err != nil {
		return err
	}
	conversation, request := h.load.Next()
	answer, lookupErr := h.server.Lookup(ctx, &pb.LookupRouteRequest{
		ModelId: h.name, TenantId: tenant, TokenIds: request.Tokens, CacheSalt: request.Salt,
	})
	response, err := h.engine.Request(ctx, request)
	if err := errors.Join(err, lookupErr); err != nil {
		return err
	}
	h.load.Answer(conversation, response.OutputTokens)
	matched := 0
	for _, score := range answer.GetReplicaScores() {
		matched = int(score.GetMatchedTokens())
	}
	if matched != response.CachedTokens {
		return fmt.Errorf("%d of %d tokens matched, the engine reused %d", matched, len(request.Tokens), response.CachedTokens)
	}
	if matched > 0 {
		h.hits++
	}
	return nil
}
