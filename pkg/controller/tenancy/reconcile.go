/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// SteadyInterval is how often a tenant's figures are brought up to date. What decides
// a condition is looked at as soon as it changes.
const SteadyInterval = 30 * time.Second

// byTenantID is the field by which a cache finds the claims to a tenant.
const byTenantID = "spec.tenantID"

// fieldOwner owns the fields that the manager sets.
const fieldOwner = client.FieldOwner("inference-cache-manager")

// TenantReconciler writes the status of CacheTenants. It is safe for concurrent use,
// as long as no two looks are at one object.
type TenantReconciler struct {
	client client.Client
	now    func() time.Time
}

// Reconcile implements reconcile.Reconciler.
func (r *TenantReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	tenant := &v1alpha1.CacheTenant{}
	if err := r.client.Get(ctx, request.NamespacedName, tenant); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if tenant.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	facts, err := r.observe(ctx, tenant)
	if err != nil {
		return reconcile.Result{}, err
	}
	updated := tenant.DeepCopy()
	updated.Status = JudgeTenant(facts)
	if apiequality.Semantic.DeepEqual(tenant.Status, updated.Status) {
		return reconcile.Result{RequeueAfter: SteadyInterval}, nil
	}
	return reconcile.Result{RequeueAfter: SteadyInterval}, write(ctx, r.client, tenant, updated)
}

// observe reads what the status of a tenant depends on from the caches.
func (r *TenantReconciler) observe(ctx context.Context, tenant *v1alpha1.CacheTenant) (TenantFacts, error) {
	facts := TenantFacts{Now: r.now(), Tenant: tenant}
	claims := &v1alpha1.CacheTenantList{}
	if err := r.client.List(ctx, claims, client.MatchingFields{byTenantID: tenant.Spec.TenantID}); err != nil {
		return facts, fmt.Errorf("list the claims to the tenant: %w", err)
	}
	facts.Claims = claims.Items

	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(namespaceKind)
	switch err := r.client.Get(ctx, client.ObjectKey{Name: tenant.Spec.TenantID}, namespace); {
	case err == nil:
		facts.NamespaceExists = true
	case !apierrors.IsNotFound(err):
		return facts, fmt.Errorf("look for a namespace of the tenant's name: %w", err)
	}

	index := &v1alpha1.CacheIndex{}
	switch err := r.client.Get(ctx, client.ObjectKey{Name: v1alpha1.CacheIndexName}, index); {
	case err == nil:
		facts.Index = shareOf(index, tenant.Spec.TenantID)
	case !apierrors.IsNotFound(err):
		return facts, fmt.Errorf("read the index: %w", err)
	}
	return facts, nil
}

// shareOf finds a tenant's share in the index.
func shareOf(index *v1alpha1.CacheIndex, id string) *TenantShare {
	share := &TenantShare{Complete: index.Status.Complete}
	for i := range index.Status.Tenants {
		if entry := &index.Status.Tenants[i]; entry.ID == id && entry.IndexEntries != nil {
			share.Entries = entry.IndexEntries
		}
	}
	return share
}

// PolicyReconciler writes the status of CachePolicies. It is safe for concurrent use,
// as long as no two looks are at one object.
type PolicyReconciler struct {
	client client.Client
	now    func() time.Time
}

// Reconcile implements reconcile.Reconciler.
func (r *PolicyReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	policy := &v1alpha1.CachePolicy{}
	if err := r.client.Get(ctx, request.NamespacedName, policy); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if policy.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	policies := &v1alpha1.CachePolicyList{}
	if err := r.client.List(ctx, policies, client.InNamespace(request.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("list the policies of the namespace: %w", err)
	}
	updated := policy.DeepCopy()
	updated.Status = JudgePolicy(PolicyFacts{Now: r.now(), Policy: policy, Policies: policies.Items})
	if apiequality.Semantic.DeepEqual(policy.Status, updated.Status) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, write(ctx, r.client, policy, updated)
}

// write puts a status into the cluster, only over the one that was judged.
func write(ctx context.Context, c client.Client, before, after client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, after, patch, fieldOwner); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	klog.FromContext(ctx).V(2).Info("Wrote the status")
	return nil
}
