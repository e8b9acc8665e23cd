/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"testing"
	"time"
)

func TestHearing(t *testing.T) {
	type event = func(*Journal, *delayedClock)
	up := func(j *Journal, _ *delayedClock) { j.Connected() }
	down := func(j *Journal, _ *delayedClock) { j.Disconnected() }
	pass := func(d time.Duration) event { return func(_ *Journal, c *delayedClock) { c.advance(d) } }
	// late is a timer that goes off although it has been stopped.
	late := func(_ *Journal, c *delayedClock) { c.pending[0].fn() }
	const half, most = Grace / 2, Grace - time.Nanosecond
	tests := map[string]struct {
		events []event
		want   bool
		// changes is how often whoever waits is told.
		changes int
	}{
		"from the start":                 {},
		"never reached":                  {events: []event{down, pass(Grace), down, pass(Grace)}},
		"connected":                      {events: []event{up}, want: true, changes: 1},
		"connected twice":                {events: []event{up, up}, want: true, changes: 1},
		"down for less than the grace":   {events: []event{up, down, pass(most)}, want: true, changes: 1},
		"down for the grace":             {events: []event{up, down, pass(Grace)}, changes: 2},
		"failures do not start it again": {events: []event{up, down, pass(half), down, pass(half)}, changes: 2},
		"back in time":                   {events: []event{up, down, pass(most), up, pass(Grace)}, want: true, changes: 1},
		"down again has a new grace":     {events: []event{up, down, pass(most), up, down, pass(most)}, want: true, changes: 1},
		"back too late":                  {events: []event{up, down, pass(Grace), down, up}, want: true, changes: 3},
		"an old timer":                   {events: []event{up, down, up, down, late}, want: true, changes: 1},
		"an old timer, connected":        {events: []event{up, down, up, late}, want: true, changes: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newDelayedClock()
			j := NewJournal(JournalOptions{Clock: c})
			changes := 0
			_, changed := j.state()
			for _, happens := range tc.events {
				happens(j, c)
				select {
				case <-changed:
					changes++
					_, changed = j.state()
				default:
				}
			}
			if heard, _ := j.state(); heard != tc.want || changes != tc.changes {
				t.Errorf("heard %v after %d changes, want %v after %d", heard, changes, tc.want, tc.changes)
			}
		})
	}
}
