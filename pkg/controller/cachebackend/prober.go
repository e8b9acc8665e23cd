/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

const (
	// probeInterval is the least time between two probes of a backend.
	probeInterval = 30 * time.Second
	// serverInterval is the time between two probes of the server on behalf of a
	// backend while they succeed. Its path is the same for every backend, and the
	// store, which is not, is tried each time.
	serverInterval = 5 * time.Minute
	// serverTimeout bounds a probe of the server.
	serverTimeout = 20 * time.Second
	// probeQueue is how many probes may wait.
	probeQueue = 1024
)

// prober tries backends with real requests, beside the reconciler: a store that
// does not answer must keep nobody waiting. It is safe for concurrent use.
type prober struct {
	client client.Client
	now    func() time.Time
	nonce  func() string
	// storeOf finds the code of a provider.
	storeOf func(v1alpha1.StorageProvider) (stores.Store, bool)

	jobs chan probeJob
	// done tells the reconciler of results.
	done chan event.GenericEvent

	mu       sync.Mutex
	backends map[types.NamespacedName]*probing
}

// probeJob is a probe to make.
type probeJob struct {
	backend  *v1alpha1.CacheBackend
	password string
	// server says whether the server is to be tried, too.
	server bool
}

// probing is what is known of the probes of a backend.
type probing struct {
	uid types.UID
	// started is when the latest probe was asked for, running whether it goes on.
	started time.Time
	running bool
	// server has the stages of the latest probe of the server.
	server   []readiness.ProbeStage
	serverAt time.Time
	// result waits to be judged, since resultAt; shown is the one that was returned
	// last. failed says that the latest one was not all right.
	result, shown *readiness.Probe
	resultAt      time.Time
	failed        bool
}

func newProber(c client.Client, now func() time.Time, nonce func() string) *prober {
	return &prober{
		client: c, now: now, nonce: nonce, storeOf: stores.Of,
		jobs: make(chan probeJob, probeQueue), done: make(chan event.GenericEvent, probeQueue),
		backends: map[types.NamespacedName]*probing{},
	}
}

// step returns the result of a probe that has ended, until it is settled, and asks for
// the next one if it is time. Without a result there is none in the answer. Fresh
// says that it is returned for the first time.
func (p *prober) step(backend *v1alpha1.CacheBackend, password string) (answer readiness.Probe, fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, now := client.ObjectKeyFromObject(backend), p.now()
	state := p.backends[name]
	if state == nil || state.uid != backend.UID {
		state = &probing{uid: backend.UID}
		p.backends[name] = state
	}
	answer = readiness.Probe{Enabled: true}
	if now.Sub(state.resultAt) >= probeInterval {
		state.result = nil // it tells of the past
	}
	if state.result != nil {
		answer, fresh = *state.result, state.shown != state.result
		state.shown = state.result
	}
	if state.running || now.Sub(state.started) < probeInterval {
		return answer, fresh
	}
	job := probeJob{backend: backend.DeepCopy(), password: password, server: state.failed || now.Sub(state.serverAt) >= serverInterval}
	select {
	case p.jobs <- job:
		state.running, state.started = true, now
	default: // there are so many that it has to wait for the next look
	}
	return answer, fresh
}

// settle drops the result that was returned last: what follows from it is written.
func (p *prober) settle(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state := p.backends[name]; state != nil && state.result == state.shown {
		state.result, state.shown = nil, nil
	}
}

// failing says whether the latest probe of a backend found something wrong.
func (p *prober) failing(name types.NamespacedName) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.backends[name]
	return state != nil && state.failed
}

func (p *prober) forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.backends, name)
}

// work makes probes until ctx ends.
func (p *prober) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-p.jobs:
			p.run(ctx, job)
		}
	}
}

// run makes one probe and leaves its result to be judged.
func (p *prober) run(ctx context.Context, job probeJob) {
	result := readiness.Probe{Enabled: true}
	server, err := p.stagesOfServer(ctx, job)
	if err != nil {
		result.Failure = err.Error()
	} else {
		result.Stages = append(append(result.Stages, server...), p.stageOfStore(ctx, job))
	}
	if ctx.Err() != nil {
		return
	}
	if p.note(job, server, result) {
		select {
		case p.done <- event.GenericEvent{Object: job.backend}:
		case <-ctx.Done():
		}
	}
}

// note keeps a result, unless the backend was forgotten meanwhile.
func (p *prober) note(job probeJob, server []readiness.ProbeStage, result readiness.Probe) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.backends[client.ObjectKeyFromObject(job.backend)]
	if state == nil || state.uid != job.backend.UID {
		return false
	}
	state.running, state.result, state.resultAt = false, &result, p.now()
	state.failed = result.Failure != ""
	for _, stage := range result.Stages {
		state.failed = state.failed || stage.Result != readiness.StageOK && stage.Result != readiness.StageSkipped
	}
	if job.server && result.Failure == "" {
		state.server, state.serverAt = server, p.now()
	}
	return true
}

// stagesOfServer drives a block through the server, or returns what it last did.
func (p *prober) stagesOfServer(ctx context.Context, job probeJob) ([]readiness.ProbeStage, error) {
	if !job.server {
		p.mu.Lock()
		defer p.mu.Unlock()
		if state := p.backends[client.ObjectKeyFromObject(job.backend)]; state != nil {
			return state.server, nil
		}
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	answer := &v1alpha1.CacheBackendProbe{}
	if err := p.client.SubResource("probe").Create(ctx, job.backend, answer); err != nil {
		return nil, fmt.Errorf("the server could not be probed: %w", err)
	}
	var stages []readiness.ProbeStage
	for _, stage := range answer.Status.Stages {
		stages = append(stages, readiness.ProbeStage{
			Name: readiness.StageName(stage.Name), Result: serverResult(stage.Result), Message: stage.Message,
		})
	}
	return stages, nil
}

// serverResult takes a result that a newer server may say for unknown.
func serverResult(result v1alpha1.ProbeResult) readiness.StageResult {
	switch result {
	case v1alpha1.ProbeResultOK:
		return readiness.StageOK
	case v1alpha1.ProbeResultFailed:
		return readiness.StageFailed
	default:
		// The server skips a stage only after one that did not succeed.
		return readiness.StageUnknown
	}
}

// stageOfStore tries the store itself.
func (p *prober) stageOfStore(ctx context.Context, job probeJob) readiness.ProbeStage {
	stage := readiness.ProbeStage{Name: readiness.StageT2, Result: readiness.StageUnknown}
	store, ok := p.storeOf(job.backend.Spec.RemoteStorage.Provider)
	if !ok {
		stage.Message = "the provider is not known"
		return stage
	}
	ctx, cancel := context.WithTimeout(ctx, probe.Timeout)
	defer cancel()
	result := store.Probe(ctx, probe.Target{
		Address: stores.Address(job.backend), Password: job.password, Nonce: p.nonce(),
		KeyPrefix: fmt.Sprintf("%s/%s/%s", v1alpha1.GroupName, job.backend.Namespace, job.backend.Name),
	})
	stage.Message = result.Message
	switch result.Outcome {
	case probe.OK:
		stage.Result = readiness.StageOK
	case probe.Failed:
		stage.Result = readiness.StageFailed
	}
	return stage
}
