//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	// tolerated is how many wrong answers are printed before a run ends.
	tolerated = 5
	// whole is the share of prompts, in percent, that end with a block. Their
	// last block is computed again and then resident twice.
	whole = 15
)

func TestAnswersOfRunningEngines(t *testing.T) {
	ctx := interruptible(t)
	drawn := *seed
	if drawn == 0 {
		drawn = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", drawn)
	for i, m := range models() {
		t.Run(m.name, func(t *testing.T) {
			l, err := newLife(ctx, m, t.TempDir(), drawn+uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { end(t, l) })
			if err := l.drive(ctx, t, *duration/time.Duration(len(models()))); err != nil {
				t.Errorf("seed %d: %v", drawn, err)
			}
			t.Logf("%s: the engine published %d stores, %d removals and %d resets; the server was killed %d times\n%s", m.name,
				l.stream.count(kvevents.BlockStored), l.stream.count(kvevents.BlockRemoved),
				l.stream.count(kvevents.AllBlocksCleared), l.server.Deaths(), l.results)
			if l.results.total().hits == 0 {
				t.Error("nothing was ever reused: the run shows nothing")
			}
		})
	}
}

// end keeps the recording of a run that failed, and ends everything.
func end(t *testing.T, l *life) {
	t.Helper()
	if err := l.close(); err != nil {
		t.Error(err)
	}
	if !t.Failed() {
		return
	}
	kept, err := l.keep()
	if err != nil {
		t.Error(err)
	}
	t.Logf("what happened is recorded in %s; the subscriber said last:\n%s\nthe server:\n%s",
		kept, programs.Tail(l.subscriberLog()), programs.Tail(l.server.Log()))
}

// drive disturbs and compares for some time. After three quarters of it, the
// engine itself is killed; the time that it takes to start does not count.
func (l *life) drive(ctx context.Context, t *testing.T, within time.Duration) error {
	t.Helper()
	killed := false
	for step, driven := 0, time.Duration(0); driven < within; step++ {
		kind, err := nothing, error(nil)
		if !killed && driven > within*3/4 {
			killed, kind, err = true, engineKilled, l.restartEngine(ctx)
		}
		began := time.Now()
		if kind == nothing {
			kind, err = l.disturb(ctx)
		}
		if err == nil {
			err = l.compare(ctx, t, kind)
		}
		if err != nil {
			return fmt.Errorf("step %d, after %q: %w", step, kind, err)
		}
		if l.results.total().wrong >= tolerated {
			return errors.New("too many answers are wrong")
		}
		driven += time.Since(began)
	}
	return nil
}

// compare asks how much of the next prompt the engine will reuse, and then the
// engine.
func (l *life) compare(ctx context.Context, t *testing.T, kind string) error {
	t.Helper()
	if err := l.quiet(ctx); err != nil {
		return err
	}
	conversation, request := l.load.Next()
	cut := l.random.IntN(100) < whole && len(request.Tokens) > blockSize
	if cut {
		request.Tokens = request.Tokens[:len(request.Tokens)/blockSize*blockSize]
	}
	answer, err := l.ask(ctx, request)
	if err != nil {
		return err
	}
	said, err := l.engine.complete(ctx, "completion", request)
	if err != nil {
		return err
	}
	if !cut {
		l.load.Answer(conversation, said.output)
	}
	one := l.results.of(kind)
	switch matched := int(answer.GetMatchedTokens()); {
	case matched == said.cached:
		one.equal++
		if matched > 0 {
			one.hits++
		}
	case matched < said.cached && !answer.GetExact():
		one.bounds++
	default:
		one.wrong++
		t.Errorf("after %q: %d of %d tokens matched (exact %t, state %s), the engine reused %d; salt %q, prompt %v",
			kind, matched, len(request.Tokens), answer.GetExact(), answer.GetState(), said.cached, request.Salt, request.Tokens)
	}
	return nil
}

// ask returns what the server says about the engine.
func (l *life) ask(ctx context.Context, request sim.Request) (*pb.ReplicaScore, error) {
	response, err := l.server.Lookup(ctx, &pb.LookupRouteRequest{
		ModelId: l.model.name, TenantId: tenant, TokenIds: request.Tokens, CacheSalt: request.Salt,
	})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(response.GetReplicaScores(), func(s *pb.ReplicaScore) bool { return s.GetPod() == pod })
	if i >= 0 {
		return response.GetReplicaScores()[i], nil
	}
	// Who is not in the answer reuses nothing, unless not all is known of it.
	replicas, err := l.server.State(ctx, tenant, l.model.name)
	if err != nil || len(replicas) != 1 {
		return nil, errors.Join(fmt.Errorf("the server knows %d engines, want 1", len(replicas)), err)
	}
	return &pb.ReplicaScore{Exact: replicas[0].GetState() == "Live", State: replicas[0].GetState()}, nil
}
