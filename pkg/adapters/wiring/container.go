/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// SubscriberContainer is the name of the container that reports an engine's events.
// It is never the engine.
const SubscriberContainer = "kvevent-subscriber"

// EngineContainer returns the container of a Pod that is the engine: the one of the
// given name, or the only one. Wired recognises, by what an earlier injection left,
// the engine of a Pod that others have added containers to since; it may be nil.
func EngineContainer(pod *corev1.Pod, name string, wired func(*corev1.Container) bool) (*corev1.Container, error) {
	var candidates []*corev1.Container
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		if container.Name == name {
			return container, nil
		}
		if container.Name != SubscriberContainer {
			candidates = append(candidates, container)
		}
	}
	if len(candidates) > 1 && wired != nil {
		candidates = slices.DeleteFunc(candidates, func(c *corev1.Container) bool { return !wired(c) })
	}
	if len(candidates) != 1 {
		return nil, Refuse(ReasonEngineContainer,
			"the Pod has several containers and none is called %s; call the engine's container %s", name, name)
	}
	return candidates[0], nil
}

// SetEnv gives a container a variable, in the place of one of the same name.
func SetEnv(container *corev1.Container, variable corev1.EnvVar) {
	at := slices.IndexFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
	if at < 0 {
		container.Env = append(slices.Clip(container.Env), variable)
		return
	}
	container.Env[at] = variable
	// The last of several counts, so that none may follow.
	kept := container.Env[:at+1]
	for _, other := range container.Env[at+1:] {
		if other.Name != variable.Name {
			kept = append(kept, other)
		}
	}
	container.Env = kept
}

// SetEnvDefault gives a container a variable that it does not have yet.
func SetEnvDefault(container *corev1.Container, name, value string) {
	if !HasEnv(container, name) {
		SetEnv(container, corev1.EnvVar{Name: name, Value: value})
	}
}

// UnsetEnv takes a variable from a container.
func UnsetEnv(container *corev1.Container, name string) {
	container.Env = slices.DeleteFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
}

// HasEnv tells whether a container has a variable.
func HasEnv(container *corev1.Container, name string) bool {
	return slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
}

// SetMount mounts a volume, in the place of an earlier mount of the same volume at
// the same path.
func SetMount(container *corev1.Container, mount corev1.VolumeMount) {
	for i, existing := range container.VolumeMounts {
		if existing.Name == mount.Name && existing.MountPath == mount.MountPath {
			container.VolumeMounts[i] = mount
			return
		}
	}
	container.VolumeMounts = append(slices.Clip(container.VolumeMounts), mount)
}

// SetVolume gives a Pod a volume, in the place of one of the same name.
func SetVolume(pod *corev1.Pod, volume corev1.Volume) {
	at := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name })
	if at < 0 {
		pod.Spec.Volumes = append(slices.Clip(pod.Spec.Volumes), volume)
		return
	}
	pod.Spec.Volumes[at] = volume
}

// SetInitContainer gives a Pod an init container: in the place of one of the same
// name, whose additions are kept, else as the last.
func SetInitContainer(pod *corev1.Pod, container corev1.Container) {
	pod.Spec.InitContainers = set(pod.Spec.InitContainers, container)
}

// SetContainer does the same with a container.
func SetContainer(pod *corev1.Pod, container corev1.Container) {
	pod.Spec.Containers = set(pod.Spec.Containers, container)
}

func set(containers []corev1.Container, container corev1.Container) []corev1.Container {
	for i := range containers {
		if containers[i].Name == container.Name {
			containers[i] = adopt(container, &containers[i])
			return containers
		}
	}
	return append(slices.Clip(containers), container)
}

// adopt returns a container with what others have made of an earlier one since: its
// image, which a registry's mirror may have replaced, what the API defaults, and what
// policies have added. Without that, two of them would undo each other's work, and a
// Pod might end outside of its namespace's limits.
func adopt(container corev1.Container, earlier *corev1.Container) corev1.Container {
	container.Image = earlier.Image
	container.ImagePullPolicy = earlier.ImagePullPolicy
	container.TerminationMessagePath = earlier.TerminationMessagePath
	container.TerminationMessagePolicy = earlier.TerminationMessagePolicy
	container.Resources.Requests = fill(container.Resources.Requests, earlier.Resources.Requests)
	container.Resources.Limits = fill(container.Resources.Limits, earlier.Resources.Limits)
	container.Env = join(container.Env, earlier.Env, func(v corev1.EnvVar) string { return v.Name })
	container.VolumeMounts = join(container.VolumeMounts, earlier.VolumeMounts, func(m corev1.VolumeMount) string { return m.MountPath })
	return container
}

// join returns a list with the items of another whose keys it does not have. Both may
// be as long as a Pod can be.
func join[T any](list, from []T, key func(T) string) []T {
	has := make(map[string]bool, len(list)+len(from))
	for _, item := range list {
		has[key(item)] = true
	}
	for _, item := range from {
		if !has[key(item)] {
			has[key(item)] = true
			list = append(list, item)
		}
	}
	return list
}

// fill returns a list with the resources of another that it does not name.
func fill(list, from corev1.ResourceList) corev1.ResourceList {
	for name, quantity := range from {
		if _, named := list[name]; named {
			continue
		}
		if list == nil {
			list = corev1.ResourceList{}
		}
		list[name] = quantity
	}
	return list
}

// ContainerNamed returns the container or init container of that name, or nil.
func ContainerNamed(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// HasVolume tells whether a Pod has a volume of that name.
func HasVolume(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
}
