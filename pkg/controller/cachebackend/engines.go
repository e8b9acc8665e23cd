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
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// Names in engine Pods.
const (
	kernelCheckContainer = "lmcache-kernel-check"
	subscriberContainer  = "kvevent-subscriber"
)

// engineContainers are how engines' containers are called in Pods with several.
var engineContainers = []string{"vllm", "sglang"}

// observeEngines reads the engine Pods of a backend from the cache. There may be
// thousands, so that they are read where they are and none may be changed.
func observeEngines(ctx context.Context, reader client.Reader, backend *v1alpha1.CacheBackend) (*readiness.Engines, error) {
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(backend.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	engines := &readiness.Engines{}
	selector, claims := engineSelector(backend)
	for i := range pods.Items {
		pod := &pods.Items[i]
		if isStorePod(pod) || ended(pod) {
			continue
		}
		if claims && selector.Matches(labels.Set(pod.Labels)) {
			engines.Matched++
			if why := pod.Annotations[v1alpha1.AnnotationInjectSkipped]; why != "" && why != v1alpha1.InjectSkippedByAnnotation {
				if message := pod.Annotations[v1alpha1.AnnotationInjectSkippedMessage]; message != "" {
					why += ": " + message
				}
				engines.LeftUnwired = append(engines.LeftUnwired, readiness.PodNote{Pod: pod.Name, Note: why})
			}
		}
		if isWiredBy(pod, backend) {
			observeWired(engines, pod)
		}
	}
	if claims {
		if err := observeWorkloads(ctx, reader, backend.Namespace, selector, engines); err != nil {
			return nil, err
		}
	}
	sortNotes(engines)
	return engines, nil
}

// engineSelector returns what selects the engines of a backend, and whether it
// claims any Pod.
func engineSelector(backend *v1alpha1.CacheBackend) (labels.Selector, bool) {
	selector := backend.Spec.EngineSelector
	if selector == nil || len(selector.MatchLabels) == 0 {
		return labels.Nothing(), false
	}
	return labels.SelectorFromSet(selector.MatchLabels), true
}

// isWiredBy says whether a Pod was injected for a backend: this one, not an earlier
// one of its name.
func isWiredBy(pod *corev1.Pod, backend *v1alpha1.CacheBackend) bool {
	return pod.Annotations[v1alpha1.AnnotationInjectedBy] == backend.Namespace+"/"+backend.Name &&
		pod.Annotations[v1alpha1.AnnotationInjectedByUID] == string(backend.UID)
}

// isStorePod says whether a Pod runs a store. A selector may match it by mistake.
func isStorePod(pod *corev1.Pod) bool {
	return pod.Labels[workload.LabelManagedBy] == workload.ManagedByValue && pod.Labels[workload.LabelName] == workload.NameValue
}

// ended says whether a Pod will never serve again. It may lie there for long.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func observeWired(engines *readiness.Engines, pod *corev1.Pod) {
	engines.Wired++
	if layout := pod.Annotations[annotationLayout]; layout != "" {
		engines.Layouts = append(engines.Layouts, readiness.PodNote{Pod: pod.Name, Note: layout})
	}
	if check, ok := kernelCheckOf(pod); ok {
		engines.Kernels = append(engines.Kernels, check)
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if isEngine(pod, status.Name) && status.State.Waiting != nil && status.State.Waiting.Reason == "CrashLoopBackOff" {
			note := readiness.PodNote{Pod: pod.Name}
			if last := status.LastTerminationState.Terminated; last != nil {
				note.Note = strings.TrimSpace(last.Message)
			}
			engines.CrashLoops = append(engines.CrashLoops, note)
			return
		}
	}
}

// isEngine tells the engine from what runs beside it.
func isEngine(pod *corev1.Pod, container string) bool {
	named := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return slices.Contains(engineContainers, c.Name) })
	if named {
		return slices.Contains(engineContainers, container)
	}
	return container != subscriberContainer
}

// kernelCheckOf reads the outcome of the kernel check in a Pod that has one.
func kernelCheckOf(pod *corev1.Pod) (readiness.KernelCheck, bool) {
	i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == kernelCheckContainer })
	if i < 0 {
		return readiness.KernelCheck{}, false
	}
	check := readiness.KernelCheck{Pod: pod.Name, State: readiness.KernelsPending}
	for _, env := range pod.Spec.InitContainers[i].Env {
		check.Strict = check.Strict || env.Name == envKernelCheckStrict && env.Value == "1"
	}
	for j := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[j]
		if status.Name != kernelCheckContainer {
			continue
		}
		ended := status.State.Terminated
		if ended == nil {
			// Between two tries the last result stands.
			ended = status.LastTerminationState.Terminated
		}
		if ended != nil {
			check.State, check.Message = kernelResult(ended.Message)
		}
	}
	return check, true
}

// kernelResult reads what the check wrote into its termination message.
func kernelResult(message string) (readiness.KernelState, string) {
	message = strings.TrimSpace(message)
	if message == "OK" {
		return readiness.KernelsLoaded, message
	}
	if why, failed := strings.CutPrefix(message, "FAIL:"); failed {
		return readiness.KernelsFailed, strings.TrimSpace(why)
	}
	return readiness.KernelsUnclear, message
}

// observeWorkloads counts the Pods that should exist, by the Deployments whose Pods
// the selector matches.
func observeWorkloads(ctx context.Context, reader client.Reader, namespace string, selector labels.Selector, engines *readiness.Engines) error {
	deployments := &appsv1.DeploymentList{}
	if err := reader.List(ctx, deployments, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.Labels[workload.LabelManagedBy] == workload.ManagedByValue || !selector.Matches(labels.Set(d.Spec.Template.Labels)) {
			continue
		}
		engines.Workloads++
		if d.Spec.Replicas == nil {
			engines.Desired++
		} else {
			engines.Desired += *d.Spec.Replicas
		}
	}
	return nil
}

// sortNotes makes the observation independent of the order of the cache.
func sortNotes(engines *readiness.Engines) {
	byPod := func(a, b readiness.PodNote) int { return strings.Compare(a.Pod, b.Pod) }
	slices.SortFunc(engines.LeftUnwired, byPod)
	slices.SortFunc(engines.CrashLoops, byPod)
	slices.SortFunc(engines.Layouts, byPod)
	slices.SortFunc(engines.Kernels, func(a, b readiness.KernelCheck) int { return strings.Compare(a.Pod, b.Pod) })
}
