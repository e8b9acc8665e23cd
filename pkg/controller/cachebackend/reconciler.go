/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// staleRetry is how soon a backend is looked at again whose status was not the one
// that was judged.
const staleRetry = 500 * time.Millisecond

// eventAction is what the controller does when it emits an Event.
const eventAction = "Reconcile"

// Reconciler brings CacheBackends about, one look at a time. It is safe for
// concurrent use, as long as no two looks are at one backend.
type Reconciler struct {
	client      client.Client
	now         func() time.Time
	namespace   string
	probes      bool
	registry    adapters.Registry
	applier     *applier
	credentials *credentials
	prober      *prober
	restarter   *restarter
	recorder    events.EventRecorder
	metrics     *controllerMetrics
}

// Reconcile looks at one backend: it provisions what is asked for, removes what is
// not, observes, judges, and writes down the verdict. Whatever fails, the status
// says what is known.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	backend := &v1alpha1.CacheBackend{}
	if err := r.client.Get(ctx, request.NamespacedName, backend); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, err
	}
	if backend.DeletionTimestamp != nil {
		// The garbage collector takes what it owns.
		return reconcile.Result{}, nil
	}
	v1alpha1.SetObjectDefaults_CacheBackend(backend)
	facts := &readiness.Facts{Now: r.now(), Backend: backend, Supported: supports(r.registry, backend)}
	facts.Probe.Enabled = r.probes
	failure := r.attempt(ctx, facts)
	verdict := readiness.Judge(*facts)
	r.metrics.participates(backend, verdict.Status.IndexParticipation, facts.Index)
	err := r.record(ctx, backend, verdict)
	if apierrors.IsConflict(err) {
		// The cache is behind what was written before, and about to catch up.
		klog.FromContext(ctx).V(2).Info("Judged an old status; looking again")
		return reconcile.Result{RequeueAfter: staleRetry}, failure
	}
	if err == nil {
		r.prober.settle(request.NamespacedName)
	}
	if err = errors.Join(failure, err); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: verdict.RequeueAfter}, nil
}

// attempt does what the shape of a backend asks for, and gathers the facts. What
// cannot be found out stays unknown.
func (r *Reconciler) attempt(ctx context.Context, facts *readiness.Facts) error {
	backend := facts.Backend
	facts.ServerInstance = backend.Status.ObservedServerInstance
	failures := []error{r.observe(ctx, facts)}
	shape := readiness.ShapeOf(backend, facts.Supported)
	switch shape {
	case readiness.ShapeUnsupported:
		// Left alone: what an earlier spec brought about may still be in use.
	case readiness.ShapeManaged:
		failures = append(failures, r.manage(ctx, facts))
	default:
		failures = append(failures, r.applier.prune(ctx, backend, nil))
		if shape == readiness.ShapeExternal {
			failures = append(failures, r.lookOutside(ctx, facts))
		}
		if shape == readiness.ShapeHiCache {
			failures = append(failures, observeHostTier(ctx, r.client, backend, facts.Index))
		}
	}
	generates := shape == readiness.ShapeManaged && stores.GeneratesPassword(backend)
	if shape != readiness.ShapeUnsupported && !generates {
		failures = append(failures, r.dropPassword(ctx, backend))
	}
	return errors.Join(failures...)
}

// observe reads what the caches know of the engines and the index.
func (r *Reconciler) observe(ctx context.Context, facts *readiness.Facts) error {
	engines, err := observeEngines(ctx, r.client, facts.Backend)
	if err != nil {
		err = fmt.Errorf("observe the engines: %w", err)
	}
	facts.Engines = engines
	index, indexErr := observeIndex(ctx, r.client, facts.Backend)
	if indexErr != nil {
		indexErr = fmt.Errorf("observe the index: %w", indexErr)
	}
	facts.Index = index
	return errors.Join(err, indexErr)
}

// manage provisions a store, has it probed and its engines restarted when it was
// replaced.
func (r *Reconciler) manage(ctx context.Context, facts *readiness.Facts) error {
	store, instances, err := observeStore(ctx, r.client, facts.Backend)
	if err != nil {
		return fmt.Errorf("observe the store: %w", err)
	}
	facts.Workload = store
	password, err := r.provision(ctx, facts)
	failures := []error{err, r.follow(ctx, facts, instances)}
	if readiness.ProbeDue(*facts) {
		r.probe(facts, password)
	}
	return errors.Join(failures...)
}

// probe has a store tried when it is time, and takes up what the last try has found.
func (r *Reconciler) probe(facts *readiness.Facts, password string) {
	found, fresh := r.prober.step(facts.Backend, password)
	facts.Probe = found
	if !fresh {
		found = readiness.Probe{Enabled: true}
	}
	r.metrics.probed(facts.Backend, found)
}

// follow restarts engines that are connected to a store instance that is gone.
func (r *Reconciler) follow(ctx context.Context, facts *readiness.Facts, instances []readiness.Instance) error {
	if facts.Workload == nil {
		return nil
	}
	next, restart := readiness.Cascade(facts.ServerInstance, instances, hasConverged(facts.Workload, instances))
	if restart && !readiness.EnginesReconnect(facts.Backend) {
		done, restarted, err := r.restarter.step(ctx, facts.Backend, next)
		if err != nil || !done {
			return err
		}
		if restarted > 0 {
			r.metrics.cascaded(facts.Backend)
		}
	}
	facts.ServerInstance = next
	return nil
}

// lookOutside checks what is known of a store that somebody else runs: how its
// endpoint is written, and whether its password can be read.
func (r *Reconciler) lookOutside(ctx context.Context, facts *readiness.Facts) error {
	problem, err := endpointProblem(facts.Backend, r.registry)
	if err != nil {
		return err
	}
	facts.EndpointProblem = problem
	was := readyReason(facts.Backend) == v1alpha1.ReasonCredentialsMissing
	secret, err := r.credentials.of(ctx, facts.Backend, was)
	facts.MissingCredentials = secret.missing
	return err
}

// record writes a status that differs from the last one, and emits its Events once
// it stands.
func (r *Reconciler) record(ctx context.Context, backend *v1alpha1.CacheBackend, verdict readiness.Verdict) error {
	if sameStatus(&backend.Status, &verdict.Status) {
		return nil
	}
	updated := backend.DeepCopy()
	updated.Status = verdict.Status
	// Only over the status that was judged: the gates remember in it.
	patch := client.MergeFromWithOptions(backend, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, updated, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	klog.FromContext(ctx).V(2).Info("Wrote the status", "ready", readyReason(updated))
	for _, event := range verdict.Events {
		r.recorder.Eventf(updated, nil, event.Type, event.Reason, eventAction, "%s", event.Message)
	}
	return nil
}

// forget drops what was remembered of a backend that is gone.
func (r *Reconciler) forget(request reconcile.Request) {
	r.applier.memo.forget(request.NamespacedName)
	r.credentials.forget(request.NamespacedName)
	r.prober.forget(request.NamespacedName)
	r.metrics.forget(request.Namespace, request.Name)
}
