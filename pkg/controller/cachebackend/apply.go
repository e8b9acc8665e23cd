/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// FieldManager owns the fields that we set. Fields that it does not set belong to
// whoever sets them.
const FieldManager = "inference-cache-manager"

// conflictError says that an object of a name that we need belongs to somebody
// else. It is not touched.
type conflictError struct {
	kind, name string
	// owner is who controls it; nil if nobody does.
	owner *metav1.OwnerReference
}

func (e *conflictError) Error() string {
	if e.owner != nil {
		return fmt.Sprintf("%s %s belongs to %s %s", e.kind, e.name, e.owner.Kind, e.owner.Name)
	}
	return fmt.Sprintf("%s %s exists and belongs to nobody", e.kind, e.name)
}

// applier brings objects to what a backend wants of them. It never adopts one that
// exists, repairs the fields that are ours, and calls the cluster only when
// something has changed since it last did.
type applier struct {
	// cached reads what is watched, live asks the cluster.
	cached client.Client
	live   client.Reader
	scheme *runtime.Scheme
	memo   *memo
}

// outcome is what applying an object came to.
type outcome int

const (
	// settled means that the object is as it should be.
	settled outcome = iota
	// leaving means that an object of the name has to go first.
	leaving
)

// apply makes an object what is wanted. With autoscaled, a number of replicas that
// equals the live one is the autoscaler's.
func (a *applier) apply(ctx context.Context, owner *v1alpha1.CacheBackend, want workload.Object, autoscaled bool) (outcome, error) {
	gvk, err := apiutil.GVKForObject(want, a.scheme)
	if err != nil {
		return settled, err
	}
	have, err := a.find(ctx, gvk, client.ObjectKey{Namespace: want.GetNamespace(), Name: want.GetName()})
	if err != nil {
		return settled, fmt.Errorf("read %s %s: %w", gvk.Kind, want.GetName(), err)
	}
	wanted, err := workload.Fields(want)
	if err != nil {
		return settled, err
	}
	wanted.SetGroupVersionKind(gvk)
	free := autoscaled && have != nil && equalReplicas(have, want)
	key, sum := memoKey{kind: gvk.Kind, name: want.GetName()}, wantedDigest(wanted, free)
	backend := client.ObjectKeyFromObject(owner)
	if have != nil {
		switch {
		case !metav1.IsControlledBy(have, owner):
			return settled, &conflictError{kind: gvk.Kind, name: want.GetName(), owner: metav1.GetControllerOf(have)}
		case have.GetDeletionTimestamp() != nil:
			return leaving, nil
		case flipsClusterIP(have, want):
			return leaving, a.delete(ctx, have)
		}
		seen, err := fingerprint(have, free)
		if err != nil || a.memo.fits(backend, key, entry{wanted: sum, seen: seen}) {
			return settled, err
		}
		if free {
			// Not to undo what the autoscaler does meanwhile.
			wanted.SetResourceVersion(have.GetResourceVersion())
		}
	}
	klog.FromContext(ctx).V(2).Info("Applying", "kind", gvk.Kind, "name", want.GetName())
	options := []client.ApplyOption{client.FieldOwner(FieldManager)}
	if have != nil {
		// What somebody makes of this name at the same time is not taken over.
		options = append(options, client.ForceOwnership)
	}
	if err := a.cached.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), options...); err != nil {
		return settled, fmt.Errorf("apply %s %s: %w", gvk.Kind, want.GetName(), err)
	}
	return settled, a.remember(backend, key, sum, wanted, free)
}

// remember notes what an object has become.
func (a *applier) remember(backend types.NamespacedName, key memoKey, sum digest, applied *unstructured.Unstructured, free bool) error {
	// By way of its type, as the cache has it: a newer cluster may know more fields.
	object, err := a.newObject(applied.GroupVersionKind())
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(applied.Object, object); err != nil {
		return err
	}
	seen, err := fingerprint(object, free)
	if err == nil {
		a.memo.set(backend, key, entry{wanted: sum, seen: seen})
	}
	return err
}

func (a *applier) newObject(gvk schema.GroupVersionKind) (client.Object, error) {
	object, err := a.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	return object.(client.Object), nil
}

// find returns an object as it is, or nil. What is not in the cache is asked of the
// cluster: it may be there without our labels.
func (a *applier) find(ctx context.Context, gvk schema.GroupVersionKind, name types.NamespacedName) (client.Object, error) {
	for _, reader := range []client.Reader{a.cached, a.live} {
		have, err := a.newObject(gvk)
		if err != nil {
			return nil, err
		}
		if err := reader.Get(ctx, name, have); !apierrors.IsNotFound(err) {
			return have, err
		}
	}
	return nil, nil
}

// delete removes an object of ours, and never another one of its name.
func (a *applier) delete(ctx context.Context, object client.Object) error {
	klog.FromContext(ctx).V(2).Info("Deleting", "kind", fmt.Sprintf("%T", object), "name", object.GetName())
	uid := object.GetUID()
	err := a.cached.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// flipsClusterIP says whether a Service changes between headless and not, which the
// cluster does not let one do.
func flipsClusterIP(have client.Object, want workload.Object) bool {
	old, ok := have.(*corev1.Service)
	if !ok {
		return false
	}
	return (old.Spec.ClusterIP == corev1.ClusterIPNone) != (want.(*corev1.Service).Spec.ClusterIP == corev1.ClusterIPNone)
}
