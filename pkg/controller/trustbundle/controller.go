/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package trustbundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// Name is that of the ConfigMap, in our namespace and in those of engines.
	Name = "inference-cache-ca"
	// key has the certificates, as PEM.
	key = "ca.crt"
	// fieldManager is who manages the copies.
	fieldManager = "inference-cache-manager"
)

// CacheOptions say that of all ConfigMaps those of our name are watched.
func CacheOptions() cache.ByObject {
	return cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, Name)}
}

// Reconciler keeps the copy of a namespace: that of the request, which has no name.
type Reconciler struct {
	client client.Client
	// own is the namespace of the original.
	own string
}

// Add puts the controller into a manager whose cache watches ConfigMaps as
// CacheOptions says. Own is the namespace in which the original is. It works while
// the manager leads.
func Add(mgr ctrl.Manager, own string) error {
	r := &Reconciler{client: mgr.GetClient(), own: own}
	return ctrl.NewControllerManagedBy(mgr).
		Named("trustbundle").
		Watches(&v1alpha1.CacheBackend{}, handler.EnqueueRequestsFromMapFunc(ofObject), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.ofConfigMap)).
		Complete(r)
}

// ofObject returns the namespace of an object.
func ofObject(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace()}}}
}

// ofConfigMap returns the namespace of a copy, and for the original those of all
// backends.
func (r *Reconciler) ofConfigMap(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetNamespace() != r.own {
		return ofObject(ctx, object)
	}
	backends := &v1alpha1.CacheBackendList{}
	if err := r.client.List(ctx, backends); err != nil {
		// The cache is there, or nothing would have been called.
		klog.FromContext(ctx).Error(err, "Reading the backends failed", "configMap", klog.KObj(object))
		return nil
	}
	var requests []reconcile.Request
	for i := range backends.Items {
		requests = append(requests, ofObject(ctx, &backends.Items[i])...)
	}
	slices.SortFunc(requests, func(a, b reconcile.Request) int { return cmp.Compare(a.Namespace, b.Namespace) })
	return slices.Compact(requests)
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if request.Namespace == r.own {
		return reconcile.Result{}, nil
	}
	original := &corev1.ConfigMap{}
	err := r.client.Get(ctx, types.NamespacedName{Namespace: r.own, Name: Name}, original)
	if apierrors.IsNotFound(err) {
		// Its creation asks again.
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read ConfigMap %s/%s: %w", r.own, Name, err)
	}
	owners, err := r.owners(ctx, request.Namespace)
	if err != nil || len(owners) == 0 || original.Data[key] == "" {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.copy(ctx, request.Namespace, original.Data[key], owners)
}

// owners returns the backends of a namespace that have engines to report, by name.
func (r *Reconciler) owners(ctx context.Context, namespace string) ([]metav1.OwnerReference, error) {
	backends := &v1alpha1.CacheBackendList{}
	if err := r.client.List(ctx, backends, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("read the CacheBackends of namespace %s: %w", namespace, err)
	}
	kind := v1alpha1.SchemeGroupVersion.WithKind("CacheBackend")
	var owners []metav1.OwnerReference
	for i := range backends.Items {
		backend := &backends.Items[i]
		selects := backend.Spec.EngineSelector != nil && len(backend.Spec.EngineSelector.MatchLabels) > 0
		observed := backend.Spec.Observation != nil && backend.Spec.Observation.ModelID != ""
		if backend.DeletionTimestamp == nil && selects && observed {
			owners = append(owners, metav1.OwnerReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: backend.Name, UID: backend.UID})
		}
	}
	slices.SortFunc(owners, func(a, b metav1.OwnerReference) int { return cmp.Compare(a.Name, b.Name) })
	return owners, nil
}

// errForeign says that a ConfigMap is not ours. It is tried again when it changes.
var errForeign = errors.New("it was made by somebody else")

// copy brings the certificates into a namespace, if they are not there.
func (r *Reconciler) copy(ctx context.Context, namespace, bundle string, owners []metav1.OwnerReference) error {
	current := &corev1.ConfigMap{}
	options := []client.ApplyOption{client.FieldOwner(fieldManager), client.ForceOwnership}
	err := r.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: Name}, current)
	switch {
	case apierrors.IsNotFound(err):
		// What somebody makes at the same time is not taken over.
		options = options[:1]
	case err != nil:
		return fmt.Errorf("read ConfigMap %s/%s: %w", namespace, Name, err)
	case current.Labels[workload.LabelManagedBy] != workload.ManagedByValue:
		klog.FromContext(ctx).Error(errForeign, "Engines have no certificates to verify the index with; rename the ConfigMap", "configMap", klog.KRef(namespace, Name))
		return nil
	case current.Data[key] == bundle && equality.Semantic.DeepEqual(byName(current.OwnerReferences), owners):
		return nil
	}
	wanted := applycorev1.ConfigMap(Name, namespace).
		WithLabels(map[string]string{workload.LabelManagedBy: workload.ManagedByValue}).
		WithData(map[string]string{key: bundle})
	for _, owner := range owners {
		wanted = wanted.WithOwnerReferences(applymetav1.OwnerReference().
			WithAPIVersion(owner.APIVersion).WithKind(owner.Kind).WithName(owner.Name).WithUID(owner.UID))
	}
	err = r.client.Apply(ctx, wanted, options...)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy the certificates into ConfigMap %s/%s: %w", namespace, Name, err)
	}
	return nil
}

func byName(owners []metav1.OwnerReference) []metav1.OwnerReference {
	sorted := slices.Clone(owners)
	slices.SortFunc(sorted, func(a, b metav1.OwnerReference) int { return cmp.Compare(a.Name, b.Name) })
	return sorted
}
