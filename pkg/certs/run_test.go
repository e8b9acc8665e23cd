/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	testingclock "k8s.io/utils/clock/testing"
)

// waiting returns when the code under test waits on the clock.
func waiting(t *testing.T, c *testingclock.FakeClock) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !c.HasWaiters() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("nobody waits")
		}
	}
}

// TestRunRotates lets a Rotator run through a life of its authority and counts what
// it costs the cluster.
func TestRunRotates(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := s.stored(t).signer.cert
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	for c.Since(epoch) < caLife {
		waiting(t, c)
		verify(t, serving(t, r), r.Bundle(), c.Now())
		c.Step(time.Hour)
	}
	waiting(t, c)
	if s.stored(t).signer.cert.Equal(first) {
		t.Error("the authority was not replaced")
	}
	if n := s.count("update"); n != 3 {
		t.Errorf("%d updates, want one to publish, one to sign and one to forget", n)
	}
	cancel()
	<-done
}

// TestRunBacksOff holds that failures are tried again, ever more slowly, and that a
// serving certificate is replaced meanwhile.
func TestRunBacksOff(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.fail(errors.New("refused"))
	before := s.count("get")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	const away = 40 * time.Minute
	for c.Since(epoch) < away {
		waiting(t, c)
		c.Step(5 * time.Second)
	}
	if tries, most := s.count("get")-before, int(away/lastRetry)+6; tries > most || tries < most/2 {
		t.Errorf("%d tries in %s, want at most %d", tries, away, most)
	}
	waiting(t, c)
	c.SetTime(epoch.Add(leafLife))
	waiting(t, c)
	verify(t, serving(t, r), r.Bundle(), c.Now().Add(leafLife/2))
	cancel()
	<-done
}

func TestPrepareWaits(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	s.fail(errors.New("refused"))
	r := replica(t, s, c, nil)
	ctx, cancel := context.WithCancel(t.Context())
	prepared := make(chan error, 1)
	go func() { prepared <- r.Prepare(ctx) }()
	waiting(t, c)
	cancel()
	if err := <-prepared; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	go func() { prepared <- r.Prepare(t.Context()) }()
	waiting(t, c)
	s.fail(nil)
	c.Step(2 * lastRetry)
	if err := <-prepared; err != nil {
		t.Error(err)
	}
}

func TestExpiryMetric(t *testing.T) {
	s, c := &secrets{}, testingclock.NewFakeClock(epoch)
	r := replica(t, s, c, nil)
	registry := prometheus.NewRegistry()
	if err := registry.Register(expiry{r}); err != nil {
		t.Fatal(err)
	}
	compare := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	}
	compare("")
	refresh(t, r)
	c.Step(time.Hour)
	compare(`# HELP inferencecache_certificate_expiry_seconds Seconds until the certificate in use ends, negative afterwards: serving is what the server shows, ca is the authority that signs.
# TYPE inferencecache_certificate_expiry_seconds gauge
inferencecache_certificate_expiry_seconds{certificate="ca"} 4.3164e+06
inferencecache_certificate_expiry_seconds{certificate="serving"} 212400
`)
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("problems %v, error %v", problems, err)
	}
}

func TestNewRefusesLifetimes(t *testing.T) {
	for name, lifetimes := range map[string]Lifetimes{
		"none": {}, "short": {CA: time.Hour, Leaf: time.Second}, "authority too short": {CA: 3 * time.Hour, Leaf: time.Hour},
	} {
		if _, err := New(Config{Lifetimes: lifetimes, Registerer: prometheus.NewRegistry()}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
