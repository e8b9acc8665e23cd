/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// firstRetry and lastRetry bound how soon a backend is tried again that failed.
	firstRetry, lastRetry = 100 * time.Millisecond, 30 * time.Second
	// probeWorkers is how many probes are made at a time. Most of one is waiting.
	probeWorkers = 8
)

// Options say how the controller works.
type Options struct {
	// Namespace is the manager's own, whose probes stores let through.
	Namespace string
	// Concurrency is how many backends are worked on at a time, at least 1.
	Concurrency int
	// FunctionalProbe has managed stores tried with real requests.
	FunctionalProbe bool
	// Registerer receives the metrics.
	Registerer prometheus.Registerer
}

// Add puts the controller into a manager whose cache and client were made with
// CacheOptions and ClientOptions. It works while the manager leads.
func Add(mgr ctrl.Manager, options Options) error {
	metrics, err := newMetrics(options.Registerer)
	if err != nil {
		return err
	}
	for _, kind := range ownedKinds() {
		// The context is only used to wait for a cache that runs already.
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), kind, controllerField, indexController); err != nil {
			return fmt.Errorf("index %T: %w", kind, err)
		}
	}
	r := &Reconciler{
		client: mgr.GetClient(), now: time.Now, namespace: options.Namespace, probes: options.FunctionalProbe,
		registry:    adapters.All(),
		applier:     &applier{cached: mgr.GetClient(), live: mgr.GetAPIReader(), scheme: mgr.GetScheme(), memo: newMemo()},
		credentials: newCredentials(mgr.GetAPIReader(), time.Now, rand.Reader),
		prober:      newProber(mgr.GetClient(), time.Now, rand.Text),
		restarter:   &restarter{live: mgr.GetAPIReader(), client: mgr.GetClient()},
		recorder:    mgr.GetEventRecorder(FieldManager),
		metrics:     metrics,
	}
	return errors.Join(r.watch(mgr, options.Concurrency), r.addProbers(mgr))
}

// watch says what makes a backend worth a look.
func (r *Reconciler) watch(mgr ctrl.Manager, concurrency int) error {
	build := ctrl.NewControllerManagedBy(mgr).
		Named("cachebackend").
		For(&v1alpha1.CacheBackend{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.ofPod), builder.WithPredicates(podChanged())).
		Watches(&v1alpha1.CacheIndex{}, indexHandler()).
		WatchesRawSource(source.Channel(r.prober.done, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	for _, kind := range ownedKinds() {
		build = build.Owns(kind, builder.WithPredicates(ownedChanged()))
	}
	return build.Complete(r)
}

// addProbers has probes made while the manager leads.
func (r *Reconciler) addProbers(mgr manager.Manager) error {
	for range probeWorkers {
		if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
			r.prober.work(ctx)
			return nil
		})); err != nil {
			return err
		}
	}
	return nil
}

// ownedChanged lets pass what changes an object itself or the state of a workload.
func ownedChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		if replicasOf(e.ObjectNew) != nil {
			return e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion()
		}
		before, err := fingerprint(e.ObjectOld, false)
		if err != nil {
			return true
		}
		after, err := fingerprint(e.ObjectNew, false)
		return err != nil || before != after
	}}
}
