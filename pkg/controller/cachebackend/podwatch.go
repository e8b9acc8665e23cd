/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// podChanged lets a Pod pass when something has changed that is read of it. What is
// not read is not in the cache.
func podChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, wasPod := e.ObjectOld.(*corev1.Pod)
		after, isPod := e.ObjectNew.(*corev1.Pod)
		if !wasPod || !isPod {
			return false
		}
		old := *before
		old.ResourceVersion = after.ResourceVersion
		return !equality.Semantic.DeepEqual(&old, after)
	}}
}

// ofPod returns the backends that a Pod may say something about: the one whose store
// it runs, or the one that wired it and those that select it.
func (r *Reconciler) ofPod(ctx context.Context, object client.Object) []reconcile.Request {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: name}}
	}
	if isStorePod(pod) {
		return []reconcile.Request{request(pod.Labels[workload.LabelInstance])}
	}
	backends := &v1alpha1.CacheBackendList{}
	if err := r.client.List(ctx, backends, client.InNamespace(pod.Namespace)); err != nil {
		// Every backend is looked at again before long.
		klog.FromContext(ctx).Error(err, "Reading the backends of a Pod failed", "pod", klog.KObj(pod))
		return nil
	}
	wiredBy, _ := strings.CutPrefix(pod.Annotations[v1alpha1.AnnotationInjectedBy], pod.Namespace+"/")
	var requests []reconcile.Request
	for i := range backends.Items {
		backend := &backends.Items[i]
		selector, claims := engineSelector(backend)
		if backend.Name == wiredBy || claims && selector.Matches(labels.Set(pod.Labels)) {
			requests = append(requests, request(backend.Name))
		}
	}
	return requests
}
