/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package source

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// run follows a script to its end and returns what the sink was told.
func run(t *testing.T, e *fakeEngine, firstSeen uint64) ([]string, *RankMetrics) {
	t.Helper()
	sink, metrics := runInto(t, e, firstSeen)
	return sink.lines, metrics
}

// runInto follows a script to its end.
func runInto(t *testing.T, e *fakeEngine, firstSeen uint64) (*log, *RankMetrics) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e.end = cancel
	sink := &log{}
	metrics := NewMetrics(prometheus.NewRegistry()).Rank(0)
	c := eagerClock{clocktesting.NewFakeClock(time.Unix(1, 0))}
	New(Options{Engine: e, Sink: sink, FirstSeen: firstSeen, Metrics: metrics, Clock: c}).Run(ctx)
	return sink, metrics
}

// eagerClock is a clock on which every pause is over at once.
type eagerClock struct{ *clocktesting.FakeClock }

func (c eagerClock) After(d time.Duration) <-chan time.Time {
	c.Step(d)
	over := make(chan time.Time, 1)
	over <- c.Now()
	return over
}

const (
	anew     = "restart "
	lost     = "restart " + reasonLost
	history  = "degrade " + reasonHistory
	unread   = "restart " + reasonBatch
	sglang   = 1
	justVLLM = 0
)

func TestSource(t *testing.T) {
	tests := map[string]struct {
		script     []step
		unreplayed bool
		firstSeen  uint64
		// before is published before anybody listens.
		before int
		want   []string
	}{
		"in order":                      {script: []step{live, live, live}, want: []string{"0", "1", "2"}},
		"history by replay":             {before: 2, script: []step{live}, want: []string{"0", "1", "2"}},
		"a gap is filled":               {script: []step{live, missed, missed, live}, want: []string{"0", "1", "2", "3"}},
		"a gap cannot be filled":        {script: []step{live, missed, missed, forget(1), live}, want: []string{"0", lost, "2", "3"}},
		"loss at the tail":              {script: []step{live, missed, idle}, want: []string{"0", "1"}},
		"nothing new":                   {script: []step{live, idle, idle, live}, want: []string{"0", "1"}},
		"a duplicate":                   {script: []step{live, live, again, live}, want: []string{"0", "1", anew, "0", "1", "2"}},
		"a hole in a replay":            {script: []step{live, missed, missed, missed, hole(3), live}, want: []string{"0", "1", "2", "3", "4"}},
		"a hole that stays":             {script: []step{live, gone, missed, missed, idle, live}, want: []string{"0", lost, "2", "3", "4"}},
		"a hole that stays, live":       {script: []step{live, gone, missed, live}, want: []string{"0", lost, "2", "3"}},
		"connection lost":               {script: []step{live, broken, live, broken, missed, live}, want: []string{"0", "1", "2", "3"}},
		"no message at all":             {script: []step{noMessage, live}, want: []string{"0"}},
		"an unreadable batch":           {script: []step{live, garbage, live}, want: []string{"0", unread, "2"}},
		"restart seen live":             {script: []step{live, live, restart, live}, want: []string{"0", "1", anew, "1000"}},
		"restart seen live, later":      {script: []step{live, live, live, restart, missed, live}, want: []string{"0", "1", "2", anew, "1000", "1001"}},
		"restart behind a connection":   {script: []step{live, live, restart, broken, missed, live}, want: []string{"0", "1", anew, "1000", "1001"}},
		"restart that counted further":  {script: []step{live, live, restart, missed, missed, missed, broken, live}, want: []string{"0", "1", anew, "1000", "1001", "1002", "1003"}},
		"restart that proves nothing":   {script: []step{live, live, restart, missed, missed, missed, forget(1), broken, live}, want: []string{"0", "1", lost, "1002", "1003"}},
		"restart that is silent":        {script: []step{live, live, restart, idle}, want: []string{"0", "1", anew}},
		"without replay":                {unreplayed: true, script: []step{live, live}, want: []string{"0", "1"}},
		"without replay, late":          {unreplayed: true, before: 1, script: []step{live, live}, want: []string{history, "1", "2"}},
		"without replay, SGLang":        {unreplayed: true, firstSeen: sglang, before: 1, script: []step{live, live}, want: []string{"1", "2"}},
		"without replay, a gap":         {unreplayed: true, script: []step{live, missed, live}, want: []string{"0", lost, "2"}},
		"without replay, restart":       {unreplayed: true, script: []step{live, live, restart, broken, live}, want: []string{"0", "1", anew, "1000"}},
		"replay fails, then works":      {script: []step{deaf, live, missed, idle, hearing, idle}, want: []string{"0", "1"}},
		"replay fails at a gap":         {script: []step{live, deaf, missed, live}, want: []string{"0", lost, "2"}},
		"replay fails at first contact": {before: 2, script: []step{deaf, broken, live}, want: []string{"0", "1", "2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{script: tc.script, unreplayed: tc.unreplayed}
			for range tc.before {
				e.publish()
			}
			got, _ := run(t, e, tc.firstSeen)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLinks says when the sink learns of the state of the stream: it is connected
// when what came before has been taken, and a new engine been recognised.
func TestLinks(t *testing.T) {
	refuse := func(e *fakeEngine) (kvevents.Message, error) {
		e.refusals = 2
		return broken(e)
	}
	tests := map[string]struct {
		script           []step
		before, refusals int
		want             []string
	}{
		"connected":                {script: []step{live}, want: []string{"connected at 0"}},
		"with a history":           {before: 2, script: []step{live}, want: []string{"connected at 2"}},
		"refused at first":         {refusals: 1, script: []step{live}, want: []string{"disconnected at 0", "connected at 0"}},
		"lost, and missed one":     {script: []step{live, missed, broken}, want: []string{"connected at 0", "disconnected at 1", "connected at 2"}},
		"lost, refused twice":      {script: []step{live, refuse}, want: []string{"connected at 0", "disconnected at 1", "disconnected at 1", "disconnected at 1", "connected at 1"}},
		"lost, another engine":     {script: []step{live, live, crash}, want: []string{"connected at 0", "disconnected at 2", "connected at 3"}},
		"idle, and then no change": {script: []step{live, idle, idle}, want: []string{"connected at 0"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := &fakeEngine{script: tc.script, refusals: tc.refusals}
			for range tc.before {
				e.publish()
			}
			sink, _ := runInto(t, e, justVLLM)
			if diff := cmp.Diff(tc.want, sink.links); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHistoryThatBeginsLate(t *testing.T) {
	e := &fakeEngine{script: []step{live}}
	for range 5 {
		e.publish()
	}
	e.kept = e.kept[3:]
	got, _ := run(t, e, justVLLM)
	if diff := cmp.Diff([]string{history, "3", "4", "5"}, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestRandomScripts lets everything happen in any order. While nothing is
// forgotten, what comes out of one engine process is its messages from the first
// on, in order and without repetition.
func TestRandomScripts(t *testing.T) {
	steps := []step{live, live, live, missed, idle, broken, crash, hole(2), hole(3)}
	for seed := range uint64(300) {
		random := newRandom(seed)
		e := &fakeEngine{}
		for range 40 {
			e.script = append(e.script, steps[random.IntN(len(steps))])
		}
		e.script = append(e.script, hole(0), live, idle)
		got, _ := run(t, e, justVLLM)
		var want []string
		for i := range e.next {
			want = append(want, stamp(e.generation, i))
		}
		if i := slices.Index(got, anew); i >= 0 {
			for slices.Contains(got[i+1:], anew) {
				i += 1 + slices.Index(got[i+1:], anew)
			}
			got = got[i+1:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: after the last restart (-want +got):\n%s", seed, diff)
		}
	}
}

func TestMetrics(t *testing.T) {
	e := &fakeEngine{script: []step{live, missed, live, broken, restart, live, garbage}}
	_, m := run(t, e, justVLLM)
	for name, tc := range map[string]struct {
		got  prometheus.Counter
		want float64
	}{
		"live":        {m.Live, 4},
		"gaps":        {m.Gaps, 1},
		"restarts":    {m.Restarts, 1},
		"disconnects": {m.Disconnects, 1},
		"unreadable":  {m.Unreadable, 1},
	} {
		if got := testutil.ToFloat64(tc.got); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
