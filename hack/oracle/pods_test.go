/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package oracle

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// storePod is a Pod that carries everything of a managed store which an operator
// may set. A Mooncake shares its node's network.
func storePod(spec *inferencecache.CacheBackendSpec) corev1.PodTemplateSpec {
	overrides := ptr.Deref(spec.Template, inferencecache.PodTemplateOverrides{})
	container := corev1.Container{Name: "store", Image: "store:1", Ports: []corev1.ContainerPort{{Name: "store", ContainerPort: 6379}}}
	set := func(image string, command []string, resources *corev1.ResourceRequirements) {
		container.Image = cmp.Or(image, container.Image)
		container.Command = command
		container.Resources = ptr.Deref(resources, corev1.ResourceRequirements{})
	}
	storage := spec.RemoteStorage
	if block := storage.Redis; block != nil {
		set(block.Image, nil, block.Resources)
	}
	if block := storage.LMCacheServer; block != nil {
		set(block.Image, block.Command, block.Resources)
	}
	if block := storage.Mooncake; block != nil {
		set(block.Image, block.Command, block.Resources)
	}
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers:                    []corev1.Container{container},
		HostNetwork:                   storage.Provider == inferencecache.StorageProviderMooncake,
		NodeSelector:                  overrides.NodeSelector,
		Affinity:                      overrides.Affinity,
		Tolerations:                   overrides.Tolerations,
		TopologySpreadConstraints:     overrides.TopologySpreadConstraints,
		ImagePullSecrets:              overrides.ImagePullSecrets,
		ServiceAccountName:            overrides.ServiceAccountName,
		SecurityContext:               overrides.SecurityContext,
		PriorityClassName:             overrides.PriorityClassName,
		SchedulerName:                 overrides.SchedulerName,
		RuntimeClassName:              overrides.RuntimeClassName,
		TerminationGracePeriodSeconds: overrides.TerminationGracePeriodSeconds,
	}}
}

// enginePod is an engine with the variables, the arguments and the worker that a
// CacheBackend brings into it.
func enginePod(spec *inferencecache.CacheBackendSpec) corev1.PodTemplateSpec {
	overrides := ptr.Deref(spec.Integration.EngineOverrides, inferencecache.EngineOverrides{})
	config := ptr.Deref(spec.LMCache, inferencecache.LMCacheConfig{})
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{
			Name: "worker", Image: cmp.Or(config.WorkerImage, "engine:1"), RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
			Ports: []corev1.ContainerPort{{ContainerPort: ptr.Deref(config.WorkerPort, 5555)}},
		}},
		Containers: []corev1.Container{{Name: "engine", Image: "engine:1", Args: overrides.Args, Env: overrides.Env}},
	}}
}
