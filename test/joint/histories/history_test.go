/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
	"inferencecache.io/inference-cache/pkg/subscriber/source"
)

// settled is a time in which everything that lives has found together: a lost
// tail is asked for after a minute, a lost delta shows with the next heartbeat.
const settled = 4 * time.Minute

// metrics are shared by all histories: nothing here reads them.
type metrics struct {
	source *source.RankMetrics
	report *report.Metrics
}

func newMetrics() metrics {
	registry := prometheus.NewRegistry()
	return metrics{source.NewMetrics(registry).Rank(0), report.NewMetrics(registry)}
}

// tally counts what histories have compared.
type tally struct {
	histories, probes, hits, converged, degraded, unheard int
}

// history is a small world and its course so far.
type history struct {
	rng         *rand.Rand
	universe    *universe
	engines     []*engine
	subscribers []*subscriber
	replicas    []*replica
	tally       *tally
	trace       []string
	started     time.Time
}

// play runs one history and returns what was wrong.
func play(t *testing.T, seed uint64, steps int, m metrics, sum *tally) {
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(seed, m, sum)
		defer h.stop()
		err := h.run(steps)
		if err != nil {
			for _, line := range h.trace {
				t.Log(line)
			}
			t.Fatalf("seed %d, %d steps: %v", seed, steps, err)
		}
		sum.histories++
	})
}

func newHistory(seed uint64, m metrics, sum *tally) *history {
	rng := rand.New(rand.NewPCG(seed, 3))
	h := &history{rng: rng, universe: newUniverse(rng), tally: sum, started: time.Now()}
	for i := range 1 + rng.IntN(4)/3 {
		h.replicas = append(h.replicas, &replica{wire: newWire(seed*2 + uint64(i))})
		h.replicas[i].start()
	}
	kinds := shapes()
	for i := range 2 {
		e := newEngine(kinds[rng.IntN(len(kinds))], h.universe, rand.New(rand.NewPCG(seed, uint64(4+i))))
		h.engines = append(h.engines, e)
		h.subscribers = append(h.subscribers, &subscriber{
			name: engineName(i), engine: e, replicas: h.replicas, source: m.source, report: m.report,
		})
		if rng.IntN(4) > 0 {
			h.subscribers[i].start()
		}
		h.note("%s is %+v, keeps %d messages", engineName(i), e.model.shape, e.retain)
	}
	return h
}

func (h *history) note(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf("%10s "+format, append([]any{time.Since(h.started)}, args...)...))
}

// run plays so many steps, and then waits for everything to settle.
func (h *history) run(steps int) error {
	for range steps {
		h.step()
		h.advance()
		if err := errors.Join(h.checkPromises(), h.checkVoices()); err != nil {
			return err
		}
	}
	h.heal()
	h.note("healed")
	pass(settled)
	synctest.Wait()
	return h.checkAnswers()
}

// step lets one thing happen.
func (h *history) step() {
	i := h.rng.IntN(len(h.engines))
	e, s, r := h.engines[i], h.subscribers[i], h.replicas[h.rng.IntN(len(h.replicas))]
	switch n := h.rng.IntN(35); {
	case n < 16:
		leaf := h.universe.leaves[h.rng.IntN(len(h.universe.leaves))]
		path := leaf.path()[:1+h.rng.IntN(leaf.depth+1)]
		h.note("%s computes %d blocks", s.name, len(path))
		e.act(func(m *model) []event { return m.compute(path) })
	case n < 21:
		h.note("%s evicts", s.name)
		e.act((*model).evict)
	case n < 23:
		h.note("%s offloads", s.name)
		e.act((*model).offload)
	case n == 23:
		h.note("%s clears", s.name)
		e.act((*model).reset)
	case n == 24:
		h.note("%s restarts", s.name)
		e.restart()
		h.burst(s)
	case n == 25:
		h.note("live stream of %s breaks", s.name)
		e.disconnect()
	case n == 26:
		h.note("%s loads its adapters anew", s.name)
		e.act((*model).reload)
	case n < 29:
		h.toggleSubscriber(s)
	case n < 31:
		h.toggleReplica(r)
	case n < 33:
		h.note("%s can be reached: %t", s.name, e.toggleReach())
	default:
		half := h.rng.IntN(2) == 0
		h.note("report streams break, half: %t", half)
		r.wire.cut(half)
	}
}

// burst lets an engine do several things before anybody can react.
func (h *history) burst(s *subscriber) {
	n := h.rng.IntN(12)
	h.note("%s does %d things at once", s.name, n)
	for range n {
		path := h.universe.leaves[h.rng.IntN(len(h.universe.leaves))].path()
		s.engine.act(func(m *model) []event { return append(m.evict(), m.compute(path)...) })
	}
}

// toggleSubscriber kills a sidecar or starts it; most of the time both.
func (h *history) toggleSubscriber(s *subscriber) {
	if s.cancel != nil {
		h.note("subscriber of %s dies", s.name)
		s.stop()
		if h.rng.IntN(2) == 0 {
			return
		}
		pass(time.Millisecond) // no process starts in the moment in which another did
	}
	h.note("subscriber of %s starts", s.name)
	s.start()
}

func (h *history) toggleReplica(r *replica) {
	i := slices.Index(h.replicas, r)
	if r.index != nil {
		h.note("replica %d dies", i)
		r.stop()
		if h.rng.IntN(2) == 0 {
			return
		}
	}
	h.note("replica %d starts", i)
	r.start()
}

// advance lets time pass: often too little for anything, rarely a lease.
func (h *history) advance() {
	limits := []time.Duration{0, time.Millisecond, 120 * time.Millisecond, 120 * time.Millisecond, 2 * time.Second, 2 * time.Second, 45 * time.Second}
	if limit := limits[h.rng.IntN(len(limits))]; limit > 0 {
		pass(time.Duration(h.rng.Int64N(int64(limit))))
	}
	synctest.Wait()
	for _, r := range h.replicas {
		if r.index != nil {
			r.index.Expire(time.Now())
		}
	}
}

// pass lets time go on, which takes none.
func pass(d time.Duration) { <-time.After(d) }

// heal ends all faults and starts what is down.
func (h *history) heal() {
	for i, e := range h.engines {
		e.heal()
		if h.subscribers[i].cancel == nil {
			h.subscribers[i].start()
		}
	}
	for _, r := range h.replicas {
		r.wire.heal()
		if r.index == nil {
			r.start()
		}
	}
}

// stop ends every goroutine of the history.
func (h *history) stop() {
	for _, s := range h.subscribers {
		if s.cancel != nil {
			s.stop()
		}
	}
	for _, r := range h.replicas {
		r.wire.listen(nil)
	}
	synctest.Wait()
}

// ask returns what a replica says about a prompt, by holder.
func (r *replica) ask(p prompt) map[index.Holder]routing.Replica {
	leaf := p.path[len(p.path)-1]
	answer := routing.New(routing.Config{Index: r.index}).Route(context.Background(), &routing.Request{
		Tenant: namespace, Model: modelName, Adapter: leaf.adapter, Salt: leaf.salt, Tokens: p.tokens,
	})
	out := map[index.Holder]routing.Replica{}
	for _, found := range answer.Replicas {
		out[found.Holder] = found
	}
	return out
}
