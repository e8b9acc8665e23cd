/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// envKernelCheckStrict is how a Pod remembers under which mode of the kernel check
// it was admitted.
const envKernelCheckStrict = "KERNEL_CHECK_STRICT"

// stripPod leaves of a Pod what is read of it. There may be many thousands, most of
// them not ours. What is left out of a Pod can never be missed silently: nothing
// writes Pods.
func stripPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	stripped := &corev1.Pod{
		TypeMeta: pod.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			Labels: pod.Labels, OwnerReferences: pod.OwnerReferences, Annotations: ourAnnotations(pod.Annotations),
		},
		Spec:   corev1.PodSpec{InitContainers: stripContainers(pod.Spec.InitContainers), Containers: stripContainers(pod.Spec.Containers)},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, Conditions: readyCondition(pod.Status.Conditions)},
	}
	if layout := layoutOf(pod); layout != "" {
		stripped.Annotations[annotationLayout] = layout
	}
	stripped.Status.InitContainerStatuses = stripStatuses(pod.Status.InitContainerStatuses)
	stripped.Status.ContainerStatuses = stripStatuses(pod.Status.ContainerStatuses)
	return stripped, nil
}

// stripDeployment leaves the containers to those Deployments that are ours: of the
// others only the labels of their Pods, their size and their rollout are read.
func stripDeployment(obj any) (any, error) {
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return obj, nil
	}
	deployment.ManagedFields = nil
	if deployment.Labels[workload.LabelManagedBy] == workload.ManagedByValue {
		return deployment, nil
	}
	deployment.Annotations = nil
	deployment.Spec.Template.Spec = corev1.PodSpec{}
	deployment.Status.Conditions = nil
	return deployment, nil
}

// stripIndex leaves the shares of the backends and of the tenants. Those of the
// engines are far more.
func stripIndex(obj any) (any, error) {
	index, ok := obj.(*v1alpha1.CacheIndex)
	if !ok {
		return obj, nil
	}
	index.ManagedFields = nil
	index.Status.Replicas = nil
	return index, nil
}

func ourAnnotations(annotations map[string]string) map[string]string {
	var ours map[string]string
	for name, value := range annotations {
		if strings.HasPrefix(name, v1alpha1.GroupName+"/") && name != annotationLayout {
			if ours == nil {
				ours = map[string]string{}
			}
			ours[name] = value
		}
	}
	return ours
}

func stripContainers(containers []corev1.Container) []corev1.Container {
	var stripped []corev1.Container
	for i := range containers {
		c := corev1.Container{Name: containers[i].Name}
		for _, env := range containers[i].Env {
			if env.Name == envKernelCheckStrict {
				c.Env = append(c.Env, env)
			}
		}
		stripped = append(stripped, c)
	}
	return stripped
}

// readyCondition leaves whether a Pod is ready, without the times of it.
func readyCondition(conditions []corev1.PodCondition) []corev1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == corev1.PodReady {
			return []corev1.PodCondition{{Type: corev1.PodReady, Status: conditions[i].Status}}
		}
	}
	return nil
}

func stripStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var stripped []corev1.ContainerStatus
	for i := range statuses {
		s := &statuses[i]
		left := corev1.ContainerStatus{Name: s.Name, Ready: s.Ready, RestartCount: s.RestartCount}
		if s.State.Waiting != nil {
			left.State.Waiting = &corev1.ContainerStateWaiting{Reason: s.State.Waiting.Reason}
		}
		if s.State.Running != nil {
			left.State.Running = &corev1.ContainerStateRunning{}
		}
		if t := s.State.Terminated; t != nil {
			left.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: t.ExitCode, Message: t.Message}
		}
		if t := s.LastTerminationState.Terminated; t != nil {
			left.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: t.ExitCode, Message: t.Message}
		}
		stripped = append(stripped, left)
	}
	return stripped
}
