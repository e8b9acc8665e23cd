/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/certs"
)

const (
	// publishAgain is how often what was published is looked at when nothing tells of
	// a change.
	publishAgain = 5 * time.Minute
	// firstPublishRetry and lastPublishRetry bound the waits after failures.
	firstPublishRetry = time.Second
	lastPublishRetry  = 30 * time.Second
	// publishTimeout bounds one round.
	publishTimeout = 30 * time.Second
)

// errBundleOwned says that somebody else manages what we have to publish.
var errBundleOwned = errors.New("the bundle of the APIService is managed by somebody else")

// errBundleUndone says that what was published did not stay. It is published again,
// but whoever undoes it at once must not make us write all the time.
var errBundleUndone = errors.New("somebody took what this server had published out of the APIService; " +
	"leave spec.caBundle and metadata.ownerReferences out of what writes it")

// publisher keeps the bundle of our authority where those who verify us look for
// it: in our APIService, for the cluster, and in a ConfigMap, for clients of the
// gRPC port. It creates no APIService and touches none that points elsewhere.
type publisher struct {
	clients registrationClients
	self    serviceRef
	clock   clock.Clock
	metrics *registrationMetrics
	service cache.SharedIndexInformer
	// changed holds a token while there is news.
	changed chan struct{}

	// bundle and refresh are of the authority.
	bundle  func() []byte
	refresh func(context.Context) error

	// wrote is what was written last, and into what.
	wrote published
	// said is what was logged last.
	said string
}

// published is what was written into an APIService.
type published struct {
	service, owner types.UID
	bundle         string
}

func newPublisher(clients registrationClients, self serviceRef, c clock.Clock, metrics *registrationMetrics) (*publisher, error) {
	p := &publisher{clients: clients, self: self, clock: c, metrics: metrics, changed: make(chan struct{}, 1)}
	p.service = dynamicinformer.NewFilteredDynamicInformer(clients.dynamic, apiServices(), metav1.NamespaceAll, 0, cache.Indexers{},
		func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, apiServiceName()).String()
		}).Informer()
	_, err := p.service.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { p.tell() },
		UpdateFunc: func(any, any) { p.tell() },
		DeleteFunc: func(any) { p.tell() },
	})
	if err != nil {
		return nil, fmt.Errorf("follow APIService %s: %w", apiServiceName(), err)
	}
	return p, nil
}

// follow makes the publisher publish the bundle of an authority.
func (p *publisher) follow(r *certs.Rotator) {
	p.bundle, p.refresh = r.Bundle, r.Refresh
	r.OnChange(p.tell)
}

// tell wakes the publisher.
func (p *publisher) tell() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// run publishes until ctx ends: after every change, and on a timer.
func (p *publisher) run(ctx context.Context) {
	stopped := make(chan struct{})
	go func() { defer close(stopped); p.service.RunWithContext(ctx) }()
	defer func() { <-stopped }()
	if !cache.WaitForCacheSync(ctx.Done(), p.service.HasSynced) {
		return
	}
	newRetry := func() wait.DelayFunc {
		return wait.Backoff{Duration: firstPublishRetry, Cap: lastPublishRetry, Factor: 2, Jitter: 0.2, Steps: 7}.DelayFunc()
	}
	retry := newRetry()
	for ctx.Err() == nil {
		pause, news := wait.Jitter(publishAgain, 0.2), p.changed
		if err := p.publish(ctx); err != nil {
			// News wait too: whoever writes all the time must not make us as busy.
			pause, news = retry(), nil
		} else {
			retry = newRetry()
		}
		timer := p.clock.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-news:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// publish makes the cluster hold what it has to, once, and says what is in the way.
func (p *publisher) publish(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	err := errors.Join(p.publishService(ctx), p.publishConfigMap(ctx))
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return err
	}
	text, count := "", 0
	if err != nil {
		text, count = err.Error(), 1
	}
	p.metrics.set(problemBundle, count)
	switch {
	case text == p.said:
	case err != nil:
		logger.Error(err, "The bundle of the certificate authority was not published")
	default:
		logger.Info("The bundle of the certificate authority is published again")
	}
	p.said = text
	return err
}

// publishService brings bundle and owner into the APIService, if it is ours.
func (p *publisher) publishService(ctx context.Context) error {
	owner, err := p.owner(ctx)
	if err != nil {
		return err
	}
	current, err := p.ours()
	if err != nil || current == nil || holds(current, p.bundle(), owner) {
		return err
	}
	// Before a replica that is behind undoes what another has published.
	if err := p.refresh(ctx); err != nil {
		return fmt.Errorf("learn the latest authority before publishing: %w", err)
	}
	bundle := p.bundle()
	if holds(current, bundle, owner) {
		return nil
	}
	err = p.apply(ctx, current, bundle, owner)
	if owner != nil && apierrors.IsForbidden(err) {
		// Some clusters let only who may delete an object say who owns it. The owner is
		// a safety net, the bundle is not.
		owner = nil
		err = p.apply(ctx, current, bundle, owner)
	}
	if managers := conflicting(err); managers != "" {
		return fmt.Errorf("%w: %s; leave spec.caBundle out of what that applies, or give this server the certificates that it is for (--tls-cert-file)", errBundleOwned, managers)
	}
	if apierrors.IsConflict(err) {
		// It has changed meanwhile, and the watch is about to tell.
		return nil
	}
	if err != nil {
		return fmt.Errorf("publish in APIService %s: %w", apiServiceName(), err)
	}
	klog.FromContext(ctx).V(2).Info("Published the bundle of the certificate authority", "apiservice", apiServiceName())
	// The version that was written was the latest, so what was written before was seen.
	before := p.wrote
	p.wrote = published{service: current.GetUID(), bundle: string(bundle)}
	if owner != nil {
		p.wrote.owner = owner.UID
	}
	if p.wrote == before && !holds(current, bundle, owner) {
		return errBundleUndone
	}
	return nil
}

// apply writes what is ours of an APIService, and nothing else: the bundle and, if
// there is one, the owner.
func (p *publisher) apply(ctx context.Context, current *unstructured.Unstructured, bundle []byte, owner *metav1.OwnerReference) error {
	wanted := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"caBundle": encodeBundle(bundle)}}}
	wanted.SetGroupVersionKind(current.GroupVersionKind())
	wanted.SetName(current.GetName())
	// Exactly the object that was seen to be ours, not one that came in its place.
	wanted.SetUID(current.GetUID())
	wanted.SetResourceVersion(current.GetResourceVersion())
	if owner != nil {
		wanted.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
	_, err := p.clients.dynamic.Resource(apiServices()).Apply(ctx, wanted.GetName(), wanted, metav1.ApplyOptions{FieldManager: fieldManager})
	return err
}

// ours returns the APIService as it was seen last, or nil when there is none that
// points to us.
func (p *publisher) ours() (*unstructured.Unstructured, error) {
	object, exists, err := p.service.GetStore().GetByKey(apiServiceName())
	if err != nil || !exists {
		return nil, err
	}
	current, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("an APIService is a %T", object)
	}
	parsed, err := toAPIService(current.Object)
	if err != nil || !p.self.isTarget(parsed) {
		return nil, err
	}
	return current, nil
}

// published reports whether the cluster was seen to have the whole bundle, or to
// reach nobody through it. It is false before the first answer.
func (p *publisher) published(bundle []byte) bool {
	if !p.service.HasSynced() {
		return false
	}
	current, err := p.ours()
	return err == nil && (current == nil || bytes.Equal(bundleOf(current), bundle))
}

// owner returns the reference to the role of this server, or nil when there is no
// such role or it may not be read. Blocking its deletion is not asked for.
func (p *publisher) owner(ctx context.Context) (*metav1.OwnerReference, error) {
	role, err := p.clients.kube.RbacV1().ClusterRoles().Get(ctx, clusterRoleName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterRole %s: %w", clusterRoleName, err)
	}
	return &metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: role.Name, UID: role.UID}, nil
}

// holds reports whether an APIService has a bundle and an owner. Other owners are
// none of our business.
func holds(service *unstructured.Unstructured, bundle []byte, owner *metav1.OwnerReference) bool {
	owned := owner == nil || slices.ContainsFunc(service.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner.UID })
	return owned && bytes.Equal(bundleOf(service), bundle)
}

// bundleOf returns the bundle of an APIService.
func bundleOf(service *unstructured.Unstructured) []byte {
	parsed, err := toAPIService(service.Object)
	if err != nil {
		return nil
	}
	return parsed.Spec.CABundle
}
