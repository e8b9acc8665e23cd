/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
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
	// namespaces are those of the cluster; nil without one.
	namespaces corelisters.NamespaceLister
	// moved is told the namespaces between which a tenant may have moved.
	moved func(namespaces ...string)
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

// newTenancy returns a tenancy that follows what the informers see; namespaces may be
// nil. It tells moved the namespaces whose tenants may be others by now, and wants an
// answer at once.
func newTenancy(kinds informers.Interface, namespaces coreinformers.NamespaceInformer, limits limiter, moved func(namespaces ...string)) (*tenancy, error) {
	policies, tenants := kinds.CachePolicies(), kinds.CacheTenants()
	if err := tenants.Informer().AddIndexers(cache.Indexers{byTenantID: claimedID}); err != nil {
		return nil, fmt.Errorf("index tenants: %w", err)
	}
	t := &tenancy{policies: policies.Lister(), tenants: tenants.Lister(), claims: tenants.Informer().GetIndexer(), limits: limits, moved: moved}
	errs := []error{
		t.follow(policies.Informer(), follow(t.policyChanged)),
		t.follow(tenants.Informer(), follow(t.tenantChanged)),
	}
	if namespaces != nil {
		t.namespaces = namespaces.Lister()
		// What changes about a namespace that exists is of no interest.
		errs = append(errs, t.follow(namespaces.Informer(), cache.ResourceEventHandlerFuncs{
			AddFunc: t.namespaceChanged, DeleteFunc: final(t.namespaceChanged),
		}))
	}
	return t, errors.Join(errs...)
}

func (t *tenancy) follow(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) error {
	handle, err := informer.AddEventHandler(handler)
	if err != nil {
		return fmt.Errorf("follow objects: %w", err)
	}
	t.synced = append(t.synced, handle.HasSynced)
	return nil
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
		DeleteFunc: final(changed),
	}
}

// final calls changed with the last that was known of an object that went.
func final(changed func(obj any)) func(obj any) {
	return func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		changed(obj)
	}
}

// Policy implements routing.Policies.
func (t *tenancy) Policy(tenant string) *routing.Policy {
	if rules := t.rulesOf(t.namespaceOf(tenant)); rules != nil {
		return &rules.lookups
	}
	return nil
}

// namespaceOf returns the namespace that a tenant belongs to: the namespace of the same
// name where there is one, else that of the CacheTenant which claims the id. A claim
// that is older than the namespace gives way to it.
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

// tenantChanged looks at the claims to a tenant id anew.
func (t *tenancy) tenantChanged(obj any) {
	if tenant, ok := obj.(*v1alpha1.CacheTenant); ok {
		t.claimChanged(tenant.Spec.TenantID)
	}
}

// namespaceChanged looks at the claims to a namespace's name anew.
func (t *tenancy) namespaceChanged(obj any) {
	if namespace, ok := obj.(*corev1.Namespace); ok {
		t.claimChanged(namespace.Name)
	}
}

// claimChanged looks at the claims to a tenant id anew.
func (t *tenancy) claimChanged(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.namespaceOf(id)
	if first := t.firstClaim(id); first == nil {
		t.claimed.Delete(id)
	} else {
		c := &claim{namespace: first.Namespace}
		if first.Spec.Quota != nil {
			c.quota = first.Spec.Quota.MaxIndexEntries
		}
		t.claimed.Store(id, c)
	}
	t.limit(id)
	if now := t.namespaceOf(id); now != before {
		t.moved(before, now)
	}
}

// firstClaim returns the claim to a tenant id that counts, or nil. There is at most
// one; should there be more, the first by namespace and name holds. None counts that a
// namespace other than the one of that name makes.
func (t *tenancy) firstClaim(id string) *v1alpha1.CacheTenant {
	claims, err := t.claims.ByIndex(byTenantID, id)
	if err != nil {
		return nil
	}
	exists := t.exists(id)
	var first *v1alpha1.CacheTenant
	for _, obj := range claims {
		c, ok := obj.(*v1alpha1.CacheTenant)
		if !ok || exists && c.Namespace != id {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(c.Namespace, first.Namespace), cmp.Compare(c.Name, first.Name)) < 0 {
			first = c
		}
	}
	return first
}

// exists reports whether there is a namespace of this name.
func (t *tenancy) exists(name string) bool {
	if t.namespaces == nil {
		return false
	}
	_, err := t.namespaces.Get(name)
	return err == nil
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
