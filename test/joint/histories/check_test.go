/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"fmt"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
)

// views returns what a replica knows of its holders.
func (r *replica) views() map[index.Holder]index.HolderView {
	list, _ := r.index.Holders(time.Now())
	views := map[index.Holder]index.HolderView{}
	for _, v := range list {
		views[v.Holder] = v
	}
	return views
}

// checkVoices says that nobody is spoken for who cannot be heard.
func (h *history) checkVoices() error {
	// Messages take some time on the way.
	const noticed = report.Grace + time.Second
	for i, r := range h.replicas {
		if r.index == nil {
			continue
		}
		views := r.views()
		for _, s := range h.subscribers {
			if !s.engine.unheard(noticed) {
				continue
			}
			h.tally.unheard++
			if v, known := views[s.holder()]; known && v.State != index.Suspect {
				return fmt.Errorf("replica %d says that %s is %s, but nobody hears it", i, s.name, v.State)
			}
		}
	}
	return nil
}

// checkPromises compares every answer with the engine's past. A replica shows an
// engine as of some moment; anything better than what was true from the last
// moment that it must know of until now is a false hit.
func (h *history) checkPromises() error {
	for i, r := range h.replicas {
		if r.index == nil {
			continue
		}
		views := r.views()
		for n, p := range h.universe.probes {
			answers := r.ask(p)
			for _, s := range h.subscribers {
				got := answers[s.holder()].Tokens
				if got == 0 {
					continue
				}
				v := views[s.holder()]
				best := h.best(s, v, n)
				if got > best {
					return fmt.Errorf("replica %d promises %d tokens of probe %d on %s, which had %d at most since what epoch %d, sequence %d says",
						i, got, n, s.name, best, v.Epoch, v.Sequence)
				}
				h.tally.probes++
				h.tally.hits++
			}
		}
	}
	return nil
}

// best is the most that an engine would have reused of a probe at any moment
// that a view of it can show.
func (h *history) best(s *subscriber, v index.HolderView, probe int) int {
	moment, none := s.floor(v.Epoch, v.Sequence)
	if none {
		return 0
	}
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	best := 0
	for _, answers := range s.engine.truth[moment:] {
		best = max(best, answers[probe])
	}
	return best
}

// checkAnswers compares what settled replicas say with what the engines hold.
func (h *history) checkAnswers() error {
	for i, r := range h.replicas {
		views := r.views()
		for n, s := range h.subscribers {
			v, known := views[s.holder()]
			if !known {
				return fmt.Errorf("replica %d does not know %s", i, s.name)
			}
			if err := h.checkHolder(r, s, v, h.engines[n]); err != nil {
				return fmt.Errorf("replica %d, %s: %w", i, s.name, err)
			}
		}
	}
	return nil
}

// checkHolder compares one holder. What was lost for good may lower an answer
// until the engine clears its cache, and it is said.
func (h *history) checkHolder(r *replica, s *subscriber, v index.HolderView, e *engine) error {
	degraded := v.Confidence.Degraded != ""
	switch {
	case degraded && e.retain == 0:
		return fmt.Errorf("%q, although the engine keeps all messages", v.Confidence.Degraded)
	case degraded && v.State != index.Degraded, !degraded && v.State != index.Live:
		return fmt.Errorf("state %s, degraded %q", v.State, v.Confidence.Degraded)
	}
	for n, p := range h.universe.probes {
		answer, told := r.ask(p)[s.holder()]
		want := e.model.reuse(p)
		vague := e.model.vague() || e.model.revocable(p.path[0])
		h.tally.probes++
		switch {
		case answer.Tokens > want:
			return fmt.Errorf("probe %d: %d tokens, the engine would reuse %d", n, answer.Tokens, want)
		case degraded:
		case answer.Tokens < want && (!told || answer.Exact || !vague):
			return fmt.Errorf("probe %d: %d tokens, the engine would reuse %d (exact %t)", n, answer.Tokens, want, answer.Exact)
		case answer.Tokens == want && want > 0:
			h.tally.hits++
			if !answer.Exact && !vague {
				return fmt.Errorf("probe %d: %d tokens is right but not said to be exact", n, want)
			}
		}
	}
	if degraded {
		h.tally.degraded++
		return nil
	}
	h.tally.converged++
	tiers, all := e.model.counts(func(c *content) bool { return !e.model.revocable(c) })
	if v.Confidence.Unresolved == 0 && v.Blocks != tiers || v.Confidence.Unresolved == 0 && v.Prefixes != all {
		return fmt.Errorf("counts %v and %d in all, the engine holds %v and %d", v.Blocks, v.Prefixes, tiers, all)
	}
	return nil
}
