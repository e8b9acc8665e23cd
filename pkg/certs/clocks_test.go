/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

// TestClockIsSet lets the clock of a running replica jump. Whichever of the times is the
// right one, the certificate can be verified then.
func TestClockIsSet(t *testing.T) {
	const hour = time.Hour
	tests := map[string][]time.Duration{
		"back by days":                       {100 * hour, 10 * hour},
		"ahead by days, and back":            {0, 100 * hour, hour},
		"ahead into a rotation, and back":    {0, 900 * hour, hour},
		"ahead beyond the end, and back":     {0, 5 * caLife, hour},
		"made ahead, and back":               {5 * caLife, 0},
		"made ahead, back, and there slowly": {5 * caLife, 0, 5 * caLife},
	}
	for name, jumps := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := &secrets{}, testingclock.NewFakeClock(epoch)
			r := replica(t, s, c, nil)
			for _, at := range jumps {
				c.SetTime(epoch.Add(at))
				refresh(t, r)
			}
			verify(t, serving(t, r), r.Bundle(), c.Now())
			// One that starts now goes by the Secret alone.
			fresh := replica(t, s, c, nil)
			refresh(t, fresh)
			verify(t, serving(t, fresh), r.Bundle(), c.Now())
		})
	}
}

// TestClockWasRight holds that a jump back leaves a certificate that is good for those
// whose clock did not jump.
func TestClockWasRight(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	refresh(t, r)
	right := epoch.Add(100 * time.Hour)
	c.SetTime(right)
	refresh(t, r)
	c.SetTime(epoch.Add(2 * time.Hour))
	refresh(t, r)
	verify(t, serving(t, r), r.Bundle(), right)
}

// TestClockIsBehind starts a replica whose clock is behind what the cluster has
// written: the authority is not its to replace.
func TestClockIsBehind(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	refresh(t, r)
	secret := s.secret.DeepCopy()
	secret.CreationTimestamp = metav1.NewTime(epoch.Add(-10 * caLife))
	secret.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: epoch}}, {}}
	s.set(secret)
	behind := replica(t, s, testingclock.NewFakeClock(epoch.Add(-5*caLife)), nil)
	refresh(t, behind)
	if s.count("update") != 0 || string(behind.Bundle()) != string(r.Bundle()) {
		t.Errorf("it replaced the authority: %q", s.calls)
	}
}
