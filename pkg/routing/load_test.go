/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/index"
)

// TestSurveysAreKeptAndNoLonger changes what a survey rests on between lookups of
// one router, and compares each answer with that of a router that knows nothing.
func TestSurveysAreKeptAndNoLonger(t *testing.T) {
	ids, chain := prompt(1, 160)
	f := newFleet(t).engine("a").engine("b").holds("a", index.T1, index.Announced, chain[:4]).holds("b", index.T1, index.Announced, chain[:4])
	used := &lookup{Router: f.router(), scratch: new(scratch), ctx: t.Context()}
	now := start
	steps := []struct {
		name   string
		change func()
		// kept says that the survey of the step before is still good.
		kept bool
	}{
		{"the first look", func() {}, false},
		{"nothing", func() {}, true},
		{"more blocks", func() { f.holds("a", index.T2, index.Announced, chain) }, true},
		{"a little time", func() { now = now.Add(surveyAge - 1) }, true},
		{"more time", func() { now = now.Add(1) }, false},
		{"statistics", func() { f.reports("a", index.Stats{Time: now, Waiting: new(int64(3))}) }, false},
		{"other statistics", func() { f.reports("b", index.Stats{Time: now, Waiting: new(int64(1))}) }, false},
		{"statistics become stale", func() { now = now.Add(DefaultStatsMaxAge + time.Second) }, false},
		{"another replica", func() { f.engine("c").holds("c", index.T1, index.Announced, chain) }, false},
		{"a lost stream", func() { f.loses("c") }, false},
		{"the end of a lease", func() { f.x.Expire(start.Add(time.Hour)) }, false},
		{"a policy", func() { f.under(Policy{MinimumMatchedTokens: 65}) }, false},
		{"another policy", func() { f.under(Policy{NoAffinity: true}) }, false},
		{"no policy", func() { f.policy = nil }, false},
		{"a clock that goes back", func() { now = start }, false},
	}
	for _, step := range steps {
		step.change()
		q := &Request{Tenant: tenant, Model: model, Tokens: ids, Now: now, Explain: true}
		used.request, used.rules, used.in = q, used.Policy(tenant), input{}
		if got := used.surveyed(); got != step.kept {
			t.Errorf("%s: the survey is kept: %t, want %t", step.name, got, step.kept)
		}
		got, want := used.answer(), f.router().Route(t.Context(), q)
		used.reset()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: answer (-fresh +used):\n%s", step.name, diff)
		}
	}
}

// TestSurveysAreOfOneModel asks one router about several scopes in turn.
func TestSurveysAreOfOneModel(t *testing.T) {
	ids, chain := prompt(1, 160)
	f := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain)
	f.open("b", "sglang")
	used := &lookup{Router: f.router(), scratch: new(scratch), ctx: t.Context()}
	for _, q := range []*Request{
		{Tenant: tenant, Model: model, Tokens: ids},
		{Tenant: tenant, Model: model, HashScheme: "sglang", Tokens: ids},
		{Tenant: tenant, Model: "none", Tokens: ids},
		{Tenant: "others", Model: model, Tokens: ids},
		{Tenant: tenant, Model: model, HashScheme: scheme, Tokens: ids},
	} {
		q.Now = start
		used.request, used.rules, used.in = q, used.Policy(q.Tenant), input{}
		if used.surveyed() {
			t.Errorf("%+v is answered with the survey of another scope", q)
		}
		if diff := cmp.Diff(f.router().Route(t.Context(), q), used.answer()); diff != "" {
			t.Errorf("answer (-fresh +used):\n%s", diff)
		}
		used.reset()
	}
}

// TestConcurrentLookups asks one router from many sides while the fleet changes.
func TestConcurrentLookups(t *testing.T) {
	ids, chain := prompt(1, 160)
	f := newFleet(t).engine("a").engine("b").holds("a", index.T1, index.Announced, chain)
	router := f.router()
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got := router.Route(t.Context(), &Request{Tenant: tenant, Model: model, Tokens: ids, TopK: i, Now: start})
				if got.Reason != PrefixMatch || got.Replicas[0].Holder.Pod != "a" {
					t.Errorf("got %s for %q", got.Reason, pods(got))
					return
				}
			}
		})
	}
	for i := range int64(200) {
		f.reports("a", running(i%5)).reports("b", running(i%3)).holds("b", index.T1, index.Announced, chain[:1+i%3])
	}
	close(stop)
	readers.Wait()
}
