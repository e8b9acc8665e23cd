/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	_ "embed"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Names of the init container that tries LMCache's kernels, and of its variable that
// makes a failure final.
const (
	KernelCheckContainer = "lmcache-kernel-check"
	EnvKernelCheckStrict = "KERNEL_CHECK_STRICT"
)

//go:embed kernelcheck.py
var kernelCheckScript string

// KernelCheck gives a Pod the init container that tries LMCache's kernels in the
// engine's image, if mode, a value of the annotation, asks for it: auto does for an
// engine with an accelerator.
func KernelCheck(pod *corev1.Pod, mode string) error {
	engine, err := Engine(pod)
	if err != nil {
		return err
	}
	switch mode {
	case v1alpha1.KernelCheckOff:
		return nil
	case v1alpha1.KernelCheckStrict, v1alpha1.KernelCheckReportOnly:
	default:
		if !hasAccelerator(engine) {
			return nil
		}
	}
	if other := wiring.ContainerNamed(pod, KernelCheckContainer); other != nil && !wiring.HasEnv(other, EnvKernelCheckStrict) {
		return wiring.Refuse(wiring.ReasonReservedName, "the Pod has a container called %s; give it another name", KernelCheckContainer)
	}
	wiring.SetInitContainer(pod, renderKernelCheck(engine, mode == v1alpha1.KernelCheckStrict))
	return nil
}

// renderKernelCheck returns a container that sees what the engine will see. It has no
// limits: small requests pass where a policy wants some, and a limit might end the
// import of the engine's libraries.
func renderKernelCheck(engine *corev1.Container, strict bool) corev1.Container {
	value := "0"
	if strict {
		value = "1"
	}
	check := corev1.Container{
		Name:            KernelCheckContainer,
		Image:           engine.Image,
		ImagePullPolicy: engine.ImagePullPolicy,
		Command:         []string{"python3", "-c", kernelCheckScript},
		WorkingDir:      engine.WorkingDir,
		EnvFrom:         slices.Clone(engine.EnvFrom),
		Env:             slices.Clone(engine.Env),
		VolumeMounts:    slices.Clone(engine.VolumeMounts),
		VolumeDevices:   slices.Clone(engine.VolumeDevices),
		SecurityContext: engine.SecurityContext.DeepCopy(),
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("50m"),
			corev1.ResourceMemory: resource.MustParse("256Mi"),
		}},
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
	wiring.SetEnv(&check, corev1.EnvVar{Name: EnvKernelCheckStrict, Value: value})
	return check
}

// accelerators are the beginnings of the names of devices that LMCache has kernels
// for.
func accelerators() []string {
	return []string{"nvidia.com/", "amd.com/gpu", "gpu.intel.com/"}
}

// hasAccelerator tells whether a container asks for a device that has kernels, by
// name or by a claim, whose devices are not known here.
func hasAccelerator(container *corev1.Container) bool {
	if len(container.Resources.Claims) > 0 {
		return true
	}
	for _, list := range []corev1.ResourceList{container.Resources.Limits, container.Resources.Requests} {
		for name, quantity := range list {
			if !quantity.IsZero() && slices.ContainsFunc(accelerators(), func(p string) bool { return strings.HasPrefix(string(name), p) }) {
				return true
			}
		}
	}
	return false
}
