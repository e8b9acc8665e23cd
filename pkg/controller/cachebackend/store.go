/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// progressDeadlineExceeded is the reason of a Deployment's condition Progressing
// when a rollout has made no progress for too long.
const progressDeadlineExceeded = "ProgressDeadlineExceeded"

// troubles are the reasons for which a container waits and that somebody has to
// do something about.
var troubles = []string{
	"CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ErrImagePull",
	"ImageInspectError", "ImagePullBackOff", "InvalidImageName", "RunContainerError",
}

// observeStore reads what runs the store of a backend from the cache, nil if
// nothing of the backend's does, and the Pods that run it.
func observeStore(ctx context.Context, reader client.Reader, backend *v1alpha1.CacheBackend) (*readiness.Workload, []readiness.Instance, error) {
	found, template, err := readWorkload(ctx, reader, backend)
	if found == nil || err != nil {
		return nil, nil, err
	}
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(backend.Namespace), client.MatchingLabels(workload.Selector(backend))); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	var instances []readiness.Instance
	for i := range pods.Items {
		pod := &pods.Items[i]
		if found.Trouble == "" {
			found.Trouble = troubleOf(pod)
		}
		if instance, ok := readiness.InstanceOf(pod, template); ok {
			instances = append(instances, instance)
		}
	}
	found.Selector = labels.SelectorFromSet(workload.Selector(backend)).String()
	return found, instances, nil
}

// readWorkload reads the workload of a store and the template of its Pods.
func readWorkload(ctx context.Context, reader client.Reader, backend *v1alpha1.CacheBackend) (*readiness.Workload, *corev1.PodTemplateSpec, error) {
	var object client.Object = &appsv1.Deployment{}
	if backend.Spec.DeploymentKind == v1alpha1.DeploymentKindStatefulSet {
		object = &appsv1.StatefulSet{}
	}
	err := reader.Get(ctx, client.ObjectKeyFromObject(backend), object)
	switch {
	case apierrors.IsNotFound(err), err == nil && !metav1.IsControlledBy(object, backend):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	found := &readiness.Workload{Kind: backend.Spec.DeploymentKind, Name: object.GetName(), Generation: object.GetGeneration()}
	template := &corev1.PodTemplateSpec{}
	switch o := object.(type) {
	case *appsv1.Deployment:
		template = &o.Spec.Template
		found.ObservedGeneration, found.Desired = o.Status.ObservedGeneration, ptr.Deref(o.Spec.Replicas, 1)
		found.Replicas, found.Updated, found.Available = o.Status.Replicas, o.Status.UpdatedReplicas, o.Status.AvailableReplicas
		found.Overdue = slices.ContainsFunc(o.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Reason == progressDeadlineExceeded
		})
	case *appsv1.StatefulSet:
		template = &o.Spec.Template
		found.ObservedGeneration, found.Desired = o.Status.ObservedGeneration, ptr.Deref(o.Spec.Replicas, 1)
		found.Replicas, found.Updated, found.Available = o.Status.Replicas, o.Status.UpdatedReplicas, o.Status.AvailableReplicas
	}
	return found, template, nil
}

// troubleOf says why a Pod does not run, if that will not pass by itself.
func troubleOf(pod *corev1.Pod) string {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			waiting := statuses[i].State.Waiting
			if waiting != nil && slices.Contains(troubles, waiting.Reason) {
				return "Pod " + pod.Name + " is in " + waiting.Reason
			}
		}
	}
	return ""
}

// isAvailable says whether a store has all of the Pods that it should have.
func isAvailable(store *readiness.Workload) bool {
	return store != nil && store.Desired > 0 && store.ObservedGeneration >= store.Generation && store.Available >= store.Desired
}
