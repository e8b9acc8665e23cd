/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// paces is into how many parts the time of a lookup is divided; after each without
// an answer one more replica is asked.
const paces = 4

// maxHedges is how many replicas may be asked at a time only because another one is
// slow. When all of them are, asking twice makes it worse.
const maxHedges = 16

// errLate is why a replica is put last that did not answer in time.
var errLate = errors.New("no answer in time")

// question is what a race asks several replicas.
type question[T any] interface {
	// start asks one replica and returns at once. It calls reply once, from any
	// goroutine, even when ctx has ended; reply does not block.
	start(ctx context.Context, p *peer, reply func(T, error))
	// complete tells whether an answer comes from a replica that misses nothing.
	complete(T) bool
}

// reply is what became of asking one replica.
type reply[T any] struct {
	runner int
	answer T
	err    error
}

// runner is one replica that has been asked.
type runner struct {
	peer    *peer
	started time.Time
	done    bool
}

// race asks replicas one after the other until one has answered. It returns the
// first complete answer, else an incomplete one when no better can be had, else an
// error that says what became of each. What still runs then is of no use; it ends
// with ctx, which has a deadline.
func race[T any](ctx context.Context, c *Client, q question[T]) (T, error) {
	candidates, err := c.candidates(ctx)
	if err != nil {
		var none T
		return none, err
	}
	r := &running[T]{client: c, question: q, candidates: candidates, replies: make(chan reply[T], len(candidates))}
	pace := time.NewTicker(paceOf(ctx))
	defer pace.Stop()
	r.ask(ctx, nil)
	for r.open > 0 {
		select {
		case got := <-r.replies:
			if r.take(ctx, got) {
				return got.answer, nil
			}
		case <-pace.C:
			r.hedge(ctx)
		case <-ctx.Done():
			r.overtaken(len(r.runners))
			return r.result(ctx)
		}
	}
	return r.result(ctx)
}

// running is the state of one race. It belongs to one goroutine.
type running[T any] struct {
	client   *Client
	question question[T]
	// candidates have not been asked, best first.
	candidates []*peer
	runners    []runner
	open       int
	replies    chan reply[T]
	// second is an incomplete answer, for want of a better one.
	second   *T
	failures []error
}

// ask asks the next candidate. With an incomplete answer at hand, only one that may
// know more is worth the wait. What is done is called when the candidate has
// replied, or now when none is asked.
func (r *running[T]) ask(ctx context.Context, done func()) {
	if done == nil {
		done = func() {}
	}
	if len(r.candidates) == 0 || (r.second != nil && standing(r.candidates[0].standing.Load()) > unknown) {
		done()
		return
	}
	p := r.candidates[0]
	r.candidates = r.candidates[1:]
	index := len(r.runners)
	r.runners = append(r.runners, runner{peer: p, started: time.Now()})
	r.open++
	p.inFlight.Add(1)
	r.question.start(ctx, p, func(answer T, err error) {
		p.inFlight.Add(-1)
		done()
		r.replies <- reply[T]{runner: index, answer: answer, err: err}
	})
}

// hedge asks the next candidate because those before it are slow.
func (r *running[T]) hedge(ctx context.Context) {
	hedges := &r.client.hedges
	if hedges.Add(1) > maxHedges {
		hedges.Add(-1)
		return
	}
	r.ask(ctx, func() { hedges.Add(-1) })
}

// take looks at a reply and tells whether its answer decides the race.
func (r *running[T]) take(ctx context.Context, got reply[T]) bool {
	r.open--
	of := &r.runners[got.runner]
	of.done = true
	if got.err != nil {
		r.fail(of.peer, got.err)
		r.ask(ctx, nil)
		return false
	}
	complete := r.question.complete(got.answer)
	of.peer.answered(complete)
	r.overtaken(got.runner)
	if complete {
		return true
	}
	r.second = &got.answer
	r.ask(ctx, nil)
	return false
}

// fail remembers what went wrong with a replica.
func (r *running[T]) fail(p *peer, err error) {
	switch status.Code(err) {
	case codes.PermissionDenied, codes.InvalidArgument:
		// All of them would say so, and it says nothing about the replica.
		r.candidates = nil
	case codes.DeadlineExceeded:
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		p.demote(err)
	default:
		p.demote(err)
	}
	r.failures = append(r.failures, fmt.Errorf("%s: %w", p.address, err))
}

// result is the outcome of a race without a complete answer.
func (r *running[T]) result(ctx context.Context) (T, error) {
	if r.second != nil {
		return *r.second, nil
	}
	if err := ctx.Err(); err != nil {
		r.failures = append(r.failures, err)
	}
	if r.client.ctx.Err() != nil {
		r.failures = append(r.failures, ErrClosed)
	}
	var none T
	return none, errors.Join(r.failures...)
}

// overtaken demotes replicas that were asked before one that has answered, and
// have taken too long.
//
// A winner past the last one demotes all that are too late.
func (r *running[T]) overtaken(winner int) {
	now := time.Now()
	for i := range r.runners[:winner] {
		if of := &r.runners[i]; !of.done && r.client.late(now.Sub(of.started)) {
			of.peer.demote(errLate)
		}
	}
}

// paceOf is the time after which one more replica is asked.
func paceOf(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline() // every lookup has one
	return max(time.Until(deadline)/paces, time.Microsecond)
}

// candidates returns the replicas in the order in which they should be asked.
func (c *Client) candidates(ctx context.Context) ([]*peer, error) {
	if c.ctx.Err() != nil {
		return nil, ErrClosed
	}
	known := *c.members.current.Load()
	if len(known) == 0 {
		c.members.wait(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if known = *c.members.current.Load(); len(known) == 0 {
			return nil, c.members.absence()
		}
	}
	return order(known, rand.IntN(len(known))), nil
}

// order sorts replicas by their standing, equal ones from a random start on. The
// first of them is the one of two with fewer lookups in flight.
func order(known []*peer, start int) []*peer {
	ordered := make([]*peer, 0, len(known))
	ordered = append(append(ordered, known[start:]...), known[:start]...)
	if len(ordered) == 1 {
		return ordered
	}
	slices.SortStableFunc(ordered, func(a, b *peer) int { return int(a.standing.Load() - b.standing.Load()) })
	first, second := ordered[0], ordered[1]
	if first.standing.Load() == second.standing.Load() && second.inFlight.Load() < first.inFlight.Load() {
		ordered[0], ordered[1] = second, first
	}
	return ordered
}
