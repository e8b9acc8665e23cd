/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// provision brings what a managed store needs into being, and notes in the facts
// what stands in its way. It returns the password of the store. An error is worth
// another try.
func (r *Reconciler) provision(ctx context.Context, facts *readiness.Facts) (password string, err error) {
	backend := facts.Backend
	store, ok := stores.Of(backend.Spec.RemoteStorage.Provider)
	if !ok {
		facts.ApplyProblem = fmt.Sprintf("no provider %q is known", backend.Spec.RemoteStorage.Provider)
		return "", nil
	}
	name := client.ObjectKeyFromObject(backend)
	secret, err := r.credentials.of(ctx, backend, !isAvailable(facts.Workload) || r.prober.failing(name))
	if err != nil {
		return "", noteProblem(facts, err)
	}
	facts.MissingCredentials = secret.missing
	objects, err := store.Render(workload.Input{
		Backend: backend, LiveReplicas: liveReplicas(facts.Workload), Password: secret.password, ManagerNamespace: r.namespace,
	})
	if err != nil {
		facts.ApplyProblem = err.Error()
		return "", nil
	}
	return secret.password, r.bringAbout(ctx, facts, objects, secret.isNew)
}

// bringAbout applies objects and deletes what is left of earlier ones.
func (r *Reconciler) bringAbout(ctx context.Context, facts *readiness.Facts, objects workload.Objects, secretToo bool) error {
	var failures []error
	for _, object := range objects.List() {
		if _, secret := object.(*corev1.Secret); secret && !secretToo {
			continue
		}
		outcome, err := r.applier.apply(ctx, facts.Backend, object, facts.Backend.Spec.Autoscaling != nil)
		_, isService := object.(*corev1.Service)
		switch {
		case err != nil:
			failures = append(failures, noteProblem(facts, err))
		case outcome == leaving:
			failures = append(failures, errLeaving)
		case isService:
			facts.Endpoint = stores.Endpoint(facts.Backend)
		}
	}
	failures = append(failures, r.applier.prune(ctx, facts.Backend, objects.List()))
	return errors.Join(failures...)
}

// errLeaving has a backend tried again when an object has gone that is in the way.
var errLeaving = errors.New("an earlier object of the name is still being deleted")

// dropPassword deletes the Secret of a backend whose store has no password of ours
// any more, or that has no store.
func (r *Reconciler) dropPassword(ctx context.Context, backend *v1alpha1.CacheBackend) error {
	secret, err := r.credentials.surplus(ctx, backend)
	if err != nil || secret == nil {
		return err
	}
	if err := r.applier.delete(ctx, secret); err != nil {
		return err
	}
	r.credentials.settle(backend)
	return nil
}

// noteProblem puts into the facts what the cluster refuses, and returns what may
// succeed when it is tried again before long.
func noteProblem(facts *readiness.Facts, err error) error {
	var conflict *conflictError
	switch {
	case errors.As(err, &conflict):
		if facts.Conflict == nil {
			facts.Conflict = &readiness.Conflict{Kind: conflict.kind, Name: conflict.name}
			if conflict.owner != nil {
				facts.Conflict.Owner = conflict.owner.Kind + "/" + conflict.owner.Name
			}
		}
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		setProblem(facts, err)
		return nil
	case apierrors.IsForbidden(err):
		// A quota that is used up stands until somebody acts, and is said; a right that
		// was just given, or an owner of a kind that is new to the cluster, does not.
		setProblem(facts, err)
		return err
	default:
		return err
	}
}

// setProblem notes the first of several problems.
func setProblem(facts *readiness.Facts, err error) {
	if facts.ApplyProblem == "" {
		facts.ApplyProblem = err.Error()
	}
}

// liveReplicas is the size of a store as it is, nil without one.
func liveReplicas(store *readiness.Workload) *int32 {
	if store == nil {
		return nil
	}
	return ptr.To(store.Desired)
}
