/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	const unit = time.Hour
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(n int) time.Time { return start.Add(time.Duration(n) * unit) }
	// Lives of 1200 units: a successor is due at 800, signs 100 after it was made,
	// and signs in any case from 1188.
	life := func(from int) span { return span{made: at(from), ends: at(from + 1200)} }
	tests := map[string]struct {
		signer, successor span
		now               int
		seen              bool
		want              step
		again             int
	}{
		"new":                                   {signer: life(0), want: stay, again: 800},
		"just before two thirds":                {signer: life(0), now: 799, want: stay, again: 800},
		"at two thirds":                         {signer: life(0), now: 800, want: prepare},
		"long after two thirds":                 {signer: life(0), now: 1199, want: prepare},
		"at its end without a successor":        {signer: life(0), now: 1200, want: replace},
		"long after its end":                    {signer: life(0), now: 9999, want: replace},
		"just published":                        {signer: life(0), successor: life(800), now: 800, seen: true, want: stay, again: 900},
		"published for too short":               {signer: life(0), successor: life(800), now: 899, seen: true, want: stay, again: 900},
		"published and seen":                    {signer: life(0), successor: life(800), now: 900, seen: true, want: promote},
		"published and not seen":                {signer: life(0), successor: life(800), now: 900, want: stay, again: 1188},
		"not seen until nearly the end":         {signer: life(0), successor: life(800), now: 1187, want: stay, again: 1188},
		"not seen nearly at the end":            {signer: life(0), successor: life(800), now: 1188, want: promote},
		"made late and seen":                    {signer: life(0), successor: life(1150), now: 1187, seen: true, want: stay, again: 1250},
		"made late, nearly at the end":          {signer: life(0), successor: life(1150), now: 1188, want: promote},
		"asleep until after the end":            {signer: life(0), successor: life(800), now: 1300, want: promote},
		"asleep until after both ends":          {signer: life(0), successor: life(800), now: 2000, want: replace},
		"successor that ended first":            {signer: life(0), successor: span{made: at(100), ends: at(500)}, now: 600, want: stay, again: 800},
		"successor that ended first, when due":  {signer: life(0), successor: span{made: at(100), ends: at(500)}, now: 800, want: prepare},
		"successor made early, for its Secret":  {signer: life(0), successor: life(50), now: 150, seen: true, want: promote},
		"clock far behind":                      {signer: life(0), now: -5000, want: stay, again: 800},
		"successor that lives for another time": {signer: life(0), successor: span{made: at(800), ends: at(9000)}, now: 900, seen: true, want: promote},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, again := decide(tc.signer, tc.successor, at(tc.now), tc.seen)
			var want time.Time
			if tc.want == stay {
				want = at(tc.again)
			}
			if got != tc.want || !again.Equal(want) {
				t.Errorf("step %d, again at %v; want %d, again at %v", got, again, tc.want, want)
			}
		})
	}
}

// TestLeastCALifetime holds that a certificate which is made just before a successor
// takes over is not cut short by the end of its authority.
func TestLeastCALifetime(t *testing.T) {
	made := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, leaf := range []time.Duration{MinLeafLifetime, time.Hour, 720 * time.Hour} {
		ca := span{made: made, ends: made.Add(LeastCALifetime(leaf))}
		promoted := ca.renewal().Add(ca.life() / propagationShare)
		if left := ca.ends.Sub(promoted); left < leaf {
			t.Errorf("%s are left for certificates of %s", left, leaf)
		}
	}
}
