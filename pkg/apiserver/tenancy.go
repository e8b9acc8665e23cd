/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	informers "inferencecache.io/inference-cache/pkg/generated/informers/externalversions/inferencecache/v1alpha1"
	listers "inferencecache.io/inference-cache/pkg/generated/listers/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

// byTenantID indexes CacheTenants by the identity that they claim.
const byTenantID = "tenantID"

// limiter is what is told the limits of tenants: the index.
type limiter interface {
	SetTenantLimits(tenant string, limits *index.TenantLimits)
}

// tenancy says which namespace a tenant is, and what that namespace wants of
// lookups and of the index. It follows the objects, so that a lookup finds
// everything made up; it is read without a lock.
type tenancy struct {
	policies listers.CachePolicyLister
	tenants  listers.CacheTenantLister
	claims   cache.Indexer
	limits   limiter
	// synced report whether the objects there were at the start have been seen.
	synced []cache.InformerSynced

	// mu orders changes; what they come to is in the maps.
	mu sync.Mutex
	// rules has a *namespaceRules by namespace, claimed a *claim by tenant id.
	rules, claimed sync.Map
}

// claim is a tenant id that a CacheTenant claims for its namespace.
type claim struct {
	namespace string
	// quota is nil for none.
	quota *int64
}

var _ routing.Policies = (*tenancy)(nil)

// newTenancy returns a tenancy that follows what the informers see.
func newTenancy(kinds informers.Interface, limits limiter) (*tenancy, error) {
	policies, tenants := kinds.CachePolicies(), kinds.CacheTenants()
	if err := tenants.Informer().AddIndexers(cache.Indexers{byTenantID: claimedID}); err != nil {
		return nil, fmt.Errorf("index tenants: %w", err)
	}
	t := &tenancy{policies: policies.Lister(), tenants: tenants.Lister(), claims: tenants.Informer().GetIndexer(), limits: limits}
	for _, followed := range []struct {
		informer cache.SharedIndexInformer
		changed  func(obj any)
	}{{policies.Informer(), t.policyChanged}, {tenants.Informer(), t.tenantChanged}} {
		handle, err := followed.informer.AddEventHandler(follow(followed.changed))
		if err != nil {
			return nil, fmt.Errorf("follow objects: %w", err)
		}
		t.synced = append(t.synced, handle.HasSynced)
	}
	return t, nil
}

func claimedID(obj any) ([]string, error) {
	tenant, ok := obj.(*v1alpha1.CacheTenant)
	if !ok {
		return nil, fmt.Errorf("%T is no CacheTenant", obj)
	}
	return []string{tenant.Spec.TenantID}, nil
}

// follow calls changed with every object that came, went, or was or became
// something else.
func follow(changed func(obj any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: changed,
		UpdateFunc: func(before, after any) {
			changed(before)
			changed(after)
		},
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			changed(obj)
		},
	}
}

// Policy implements routing.Policies.
func (t *tenancy) Policy(tenant string) *routing.Policy {
	if rules := t.rulesOf(t.namespaceOf(tenant)); rules != nil {
		return &rules.lookups
	}
	return nil
}

// namespaceOf returns the namespace that a tenant belongs to: that of the
// CacheTenant which claims the id, else the namespace of the same name.
func (t *tenancy) namespaceOf(tenant string) string {
	if c, ok := t.claimed.Load(tenant); ok {
		return c.(*claim).namespace
	}
	return tenant
}

func (t *tenancy) rulesOf(namespace string) *namespaceRules {
	rules, ok := t.rules.Load(namespace)
	if !ok {
		return nil
	}
	return rules.(*namespaceRules)
}

// policyChanged looks at the policies of a namespace anew. There is at most one;
// should there be more, the first by name holds.
func (t *tenancy) policyChanged(obj any) {
	policy, ok := obj.(*v1alpha1.CachePolicy)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := policy.Namespace
	all, err := t.policies.CachePolicies(namespace).List(labels.Everything())
	if err != nil || len(all) == 0 {
		t.rules.Delete(namespace)
	} else {
		first := slices.MinFunc(all, func(a, b *v1alpha1.CachePolicy) int { return cmp.Compare(a.Name, b.Name) })
		t.rules.Store(namespace, rulesOf(&first.Spec))
	}
	t.limit(namespace)
	tenants, err := t.tenants.CacheTenants(namespace).List(labels.Everything())
	if err != nil {
		return
	}
	for _, tenant := range tenants {
		t.limit(tenant.Spec.TenantID)
	}
}

// tenantChanged looks at the claims to a tenant id anew. There is at most one;
// should there be more, the first by namespace and name holds.
func (t *tenancy) tenantChanged(obj any) {
	tenant, ok := obj.(*v1alpha1.CacheTenant)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id := tenant.Spec.TenantID
	claims, err := t.claims.ByIndex(byTenantID, id)
	if err != nil || len(claims) == 0 {
		t.claimed.Delete(id)
	} else {
		first := slices.MinFunc(claims, func(a, b any) int {
			x, y := a.(*v1alpha1.CacheTenant), b.(*v1alpha1.CacheTenant)
			return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
		}).(*v1alpha1.CacheTenant)
		c := &claim{namespace: first.Namespace}
		if first.Spec.Quota != nil {
			c.quota = first.Spec.Quota.MaxIndexEntries
		}
		t.claimed.Store(id, c)
	}
	t.limit(id)
}

// limit tells the index what bounds a tenant.
func (t *tenancy) limit(tenant string) {
	limits := index.TenantLimits{MaxBlocks: -1}
	bounded := false
	if c, ok := t.claimed.Load(tenant); ok && c.(*claim).quota != nil {
		limits.MaxBlocks, bounded = *c.(*claim).quota, true
	}
	if rules := t.rulesOf(t.namespaceOf(tenant)); rules != nil && rules.evicts {
		limits.Order, limits.TTL, bounded = rules.order, rules.ttl, true
	}
	if !bounded {
		t.limits.SetTenantLimits(tenant, nil)
		return
	}
	t.limits.SetTenantLimits(tenant, &limits)
}

// hasSynced reports whether the objects there were at the start are in use.
func (t *tenancy) hasSynced() bool {
	return !slices.ContainsFunc(t.synced, func(synced cache.InformerSynced) bool { return !synced() })
}
