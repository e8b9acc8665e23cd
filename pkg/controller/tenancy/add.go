/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// namespaceKind is the kind of which only metadata is watched.
var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// Add puts both controllers into a manager, each with so many workers, at least 1.
// The manager's cache has to keep status.tenants of the CacheIndex. It may list and
// watch CacheTenants, CachePolicies, CacheIndices and Namespaces, and patch the status
// of the first two.
func Add(mgr manager.Manager, concurrency int) error {
	// The context is only used to wait for a cache that runs already.
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.CacheTenant{}, byTenantID, tenantIDOf); err != nil {
		return fmt.Errorf("index CacheTenants by tenantID: %w", err)
	}
	options := controller.Options{MaxConcurrentReconciles: concurrency}
	tenants := &TenantReconciler{client: mgr.GetClient(), now: time.Now}
	policies := &PolicyReconciler{client: mgr.GetClient(), now: time.Now}
	return errors.Join(
		builder.ControllerManagedBy(mgr).Named("cachetenant").
			For(&v1alpha1.CacheTenant{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			Watches(&v1alpha1.CacheTenant{}, handler.EnqueueRequestsFromMapFunc(tenants.sharing),
				builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(tenants.named), builder.WithPredicates(cameOrWent())).
			Watches(&v1alpha1.CacheIndex{}, handler.EnqueueRequestsFromMapFunc(tenants.all), builder.WithPredicates(sharesChanged())).
			WithOptions(options).Complete(tenants),
		builder.ControllerManagedBy(mgr).Named("cachepolicy").
			For(&v1alpha1.CachePolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
			Watches(&v1alpha1.CachePolicy{}, handler.EnqueueRequestsFromMapFunc(policies.beside), builder.WithPredicates(cameOrWent())).
			WithOptions(options).Complete(policies),
	)
}

func tenantIDOf(object client.Object) []string {
	tenant, ok := object.(*v1alpha1.CacheTenant)
	if !ok {
		return nil
	}
	return []string{tenant.Spec.TenantID}
}

// sharing returns the tenants that claim what a tenant does.
func (r *TenantReconciler) sharing(ctx context.Context, object client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, id := range tenantIDOf(object) {
		requests = append(requests, r.claiming(ctx, client.MatchingFields{byTenantID: id})...)
	}
	return requests
}

// named returns the tenants that claim the name of a namespace.
func (r *TenantReconciler) named(ctx context.Context, namespace client.Object) []reconcile.Request {
	return r.claiming(ctx, client.MatchingFields{byTenantID: namespace.GetName()})
}

// all returns every tenant.
func (r *TenantReconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	return r.claiming(ctx)
}

// claiming lists tenants from the cache. Should that fail, their own interval has them
// looked at.
func (r *TenantReconciler) claiming(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	tenants := &v1alpha1.CacheTenantList{}
	if err := r.client.List(ctx, tenants, options...); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(tenants.Items))
	for i := range tenants.Items {
		requests[i] = reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&tenants.Items[i])}
	}
	return requests
}

// beside returns the policies of a policy's namespace.
func (r *PolicyReconciler) beside(ctx context.Context, object client.Object) []reconcile.Request {
	policies := &v1alpha1.CachePolicyList{}
	if err := r.client.List(ctx, policies, client.InNamespace(object.GetNamespace())); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, len(policies.Items))
	for i := range policies.Items {
		requests[i] = reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&policies.Items[i])}
	}
	return requests
}

// cameOrWent lets pass that an object is there or is not.
func cameOrWent() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// sharesChanged lets an index pass in which a tenant came, went, or has its first or
// lost its last entry, or which is whole again. Mere growth is for the interval.
func sharesChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, wasIndex := e.ObjectOld.(*v1alpha1.CacheIndex)
		after, isIndex := e.ObjectNew.(*v1alpha1.CacheIndex)
		return !wasIndex || !isIndex || before.Status.Complete != after.Status.Complete ||
			!apiequality.Semantic.DeepEqual(filled(before), filled(after))
	}}
}

// filled tells which tenants have entries.
func filled(index *v1alpha1.CacheIndex) map[string]bool {
	tenants := make(map[string]bool, len(index.Status.Tenants))
	for i := range index.Status.Tenants {
		tenant := &index.Status.Tenants[i]
		tenants[tenant.ID] = ptr.Deref(tenant.IndexEntries, 0) > 0
	}
	return tenants
}
