/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// probed is a harness with a store that works, probes that are made when the test
// says so, and what the store answers.
type probed struct {
	*harness

	answer  probe.Result
	targets []probe.Target
}

func newProbed(t *testing.T) *probed {
	t.Helper()
	p := &probed{harness: newHarness(t, newBackend(managedRedis), index()), answer: probe.Passed("a round trip")}
	p.probes = true
	p.prober.storeOf = func(provider v1alpha1.StorageProvider) (stores.Store, bool) {
		store, ok := stores.Of(provider)
		store.Probe = func(_ context.Context, target probe.Target) probe.Result {
			p.targets = append(p.targets, target)
			return p.answer
		}
		return store, ok
	}
	p.harness.look(t)
	p.serve(t)
	return p
}

// look looks at the backend, has the probes made that it asks for, and looks again
// if there were any, as the controller would.
func (p *probed) look(t *testing.T) {
	t.Helper()
	p.harness.look(t)
	for len(p.prober.jobs) > 0 {
		p.prober.run(t.Context(), <-p.prober.jobs)
	}
	for len(p.prober.done) > 0 {
		<-p.prober.done
		p.harness.look(t)
	}
}

// TestProbe holds when probes are made and what comes of them.
func TestProbe(t *testing.T) {
	p := newProbed(t)
	p.look(t)
	if got := p.ready(t); got != "True/KVEventsObserved" {
		t.Errorf("Ready is %s", got)
	}
	want := []probe.Target{{
		Address: "shared.team-a.svc:6379", Password: p.password(t), Nonce: "nonce", KeyPrefix: "inferencecache.io/team-a/shared",
	}}
	if diff := cmp.Diff(want, p.targets, cmp.Comparer(func(a, b probe.Target) bool {
		return a.Address == b.Address && a.Password == b.Password && a.Nonce == b.Nonce && a.KeyPrefix == b.KeyPrefix
	})); diff != "" {
		t.Errorf("wrong probe (-want +got):\n%s", diff)
	}
	p.pass(probeInterval - time.Second)
	p.look(t)
	if len(p.targets) != 1 {
		t.Error("the next probe was made too early")
	}
	p.answer = probe.Broken("it is read-only")
	p.pass(time.Second)
	p.look(t)
	if got := p.ready(t); got != "False/ProbeT2Failed" {
		t.Errorf("Ready is %s after a failure", got)
	}
	p.answer = probe.Unclear("another protocol")
	p.pass(probeInterval)
	p.look(t)
	if got := p.ready(t); got != "False/ProbeT2Failed" {
		t.Errorf("Ready is %s after a failure and a probe that says nothing", got)
	}
	p.answer = probe.Passed("a round trip")
	p.pass(probeInterval)
	p.look(t)
	if got := p.ready(t); got != "True/KVEventsObserved" {
		t.Errorf("Ready is %s after it works again", got)
	}
}

// TestServerIsProbedSeldom holds that the server is not asked each time while all is
// well.
func TestServerIsProbedSeldom(t *testing.T) {
	p := newProbed(t)
	p.look(t)
	p.took()
	for range 9 {
		p.pass(probeInterval)
		p.look(t)
	}
	if calls := p.took(); len(calls) > 0 {
		t.Errorf("calls while all is well: %v", calls)
	}
	p.pass(probeInterval)
	p.look(t)
	if len(p.targets) != 11 {
		t.Errorf("%d probes of the store, want 11", len(p.targets))
	}
	if diff := cmp.Diff([]string{"create probe CacheBackend"}, p.took()); diff != "" {
		t.Errorf("wrong calls (-want +got):\n%s", diff)
	}
}

// TestResultOutlivesConflict holds that a result is judged again when what followed
// from it could not be written, and counted once.
func TestResultOutlivesConflict(t *testing.T) {
	p := newProbed(t)
	p.look(t)
	p.answer = probe.Broken("it is read-only")
	p.pass(probeInterval)
	conflict := apierrors.NewConflict(v1alpha1.Resource("cachebackends"), testName, nil)
	p.fail(func(call string) error {
		if call == "patch status CacheBackend" {
			return conflict
		}
		return nil
	})
	p.look(t)
	p.fail(nil)
	p.harness.look(t)
	if got := p.ready(t); got != "False/ProbeT2Failed" {
		t.Errorf("Ready is %s", got)
	}
	if got := testutil.ToFloat64(p.metrics.probes.WithLabelValues(testNamespace, testName, "t2", "failed")); got != 1 {
		t.Errorf("%v failures were counted, want 1", got)
	}
}

// TestOldResult holds that a result is dropped that nobody looked at in time.
func TestOldResult(t *testing.T) {
	p := newProbed(t)
	p.harness.look(t)
	p.prober.run(t.Context(), <-p.prober.jobs)
	p.pass(probeInterval)
	p.harness.look(t)
	if p.is(t, v1alpha1.ConditionFunctionalProbeOK, "True/ProbeOK") {
		t.Error("an old result was judged")
	}
}

// TestServerCannotBeProbed holds that a call which fails says nothing of the
// backend.
func TestServerCannotBeProbed(t *testing.T) {
	p := newProbed(t)
	p.fail(func(call string) error {
		if call == "create probe CacheBackend" {
			return apierrors.NewServiceUnavailable("away")
		}
		return nil
	})
	p.look(t)
	if got := p.ready(t); got != "True/KVEventsObserved" {
		t.Errorf("Ready is %s", got)
	}
	p.fail(nil)
	p.pass(probeInterval)
	p.look(t)
	if !p.is(t, v1alpha1.ConditionFunctionalProbeOK, "True/ProbeOK") {
		t.Errorf("conditions: %+v", p.backend(t).Status.Conditions)
	}
}

// TestProbesAreOff holds that nothing is probed and that an old condition goes.
func TestProbesAreOff(t *testing.T) {
	p := newProbed(t)
	p.look(t)
	p.probes = false
	p.pass(probeInterval)
	p.look(t)
	if len(p.targets) != 1 || p.is(t, v1alpha1.ConditionFunctionalProbeOK, "True/ProbeOK") {
		t.Errorf("%d probes, conditions %+v", len(p.targets), p.backend(t).Status.Conditions)
	}
}

// TestProbeIsSkipped holds that who opted out is not probed.
func TestProbeIsSkipped(t *testing.T) {
	p := newProbed(t)
	p.change(t, func(b *v1alpha1.CacheBackend) {
		b.Annotations = map[string]string{v1alpha1.AnnotationSkipFunctionalProbe: "true"}
	})
	p.look(t)
	if len(p.targets) != 0 || !p.is(t, v1alpha1.ConditionFunctionalProbeOK, "True/ProbeBypassed") {
		t.Errorf("%d probes, conditions %+v", len(p.targets), p.backend(t).Status.Conditions)
	}
}

// TestProbeOfAnotherBackend holds that a result is dropped whose backend was made
// anew meanwhile.
func TestProbeOfAnotherBackend(t *testing.T) {
	p := newProber(nil, time.Now, func() string { return "nonce" })
	first, second := newBackend(managedRedis), newBackend(managedRedis)
	second.UID = "another"
	p.step(first, "")
	job := <-p.jobs
	p.step(second, "")
	if p.note(job, nil, readiness.Probe{Failure: "of the first"}) {
		t.Error("the result of a backend that is gone was kept")
	}
	if got, _ := p.step(second, ""); got.Failure != "" {
		t.Errorf("got %+v", got)
	}
}

// TestTooManyProbes holds that a full queue keeps nobody waiting.
func TestTooManyProbes(t *testing.T) {
	p := newProber(nil, time.Now, func() string { return "nonce" })
	p.jobs = make(chan probeJob)
	p.step(newBackend(managedRedis), "")
	if p.backends[backendKey()].running {
		t.Error("a probe that nobody makes is waited for")
	}
}

// TestProbersEnd holds that those who make probes end with the manager.
func TestProbersEnd(t *testing.T) {
	p := newProber(nil, time.Now, func() string { return "nonce" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.work(ctx)
}
