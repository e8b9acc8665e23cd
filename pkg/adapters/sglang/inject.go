/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

// Names that the wiring has in a Pod.
const (
	// WorkerContainer is LMCache beside the engine.
	WorkerContainer = "lmcache-mp-worker"
	configVolume    = "lmcache-config"
	sharedVolume    = "lmcache-dshm"

	configFolder = "/etc/lmcache"
	configFile   = configFolder + "/config.yaml"
	sharedFolder = "/dev/shm"

	// envWorker marks a worker that was injected here.
	envWorker       = "INFERENCECACHE_MP_WORKER"
	envExperimental = "LMCACHE_USE_EXPERIMENTAL"
)

// Inject wires the engine of a Pod to an LMCache worker beside it.
func Inject(pod *corev1.Pod, r wiring.Request) error {
	if !r.NativeSidecars {
		return wiring.Refuse(wiring.ReasonNativeSidecars,
			"LMCache beside SGLang runs as a native sidecar, which needs Kubernetes 1.29 or later")
	}
	engine, err := Engine(pod)
	if err != nil {
		return err
	}
	line, flags, err := Read(engine)
	if err != nil {
		return err
	}
	if flags.Given(FlagEnableHiCache) {
		return wiring.Refuse(wiring.ReasonOwnConnector,
			"%s gives the engine a cache of its own; remove it, or use type SGLangHiCache", FlagEnableHiCache)
	}
	if file, given := flags.last(FlagLMCacheConfigFile); given && file != configFile {
		return wiring.Refuse(wiring.ReasonOwnConnector,
			"%s %s gives the engine an LMCache of its own; remove the flag, or use mode EventsOnly", FlagLMCacheConfigFile, file)
	}
	if err := checkNames(pod, engine); err != nil {
		return err
	}
	shared, err := sharedMemory(pod, engine)
	if err != nil {
		return err
	}
	if !flags.Given(FlagEnableLMCache) {
		line.Append(FlagEnableLMCache)
	}
	if !flags.Given(FlagLMCacheConfigFile) {
		line.Append(FlagLMCacheConfigFile, configFile)
	}
	wiring.SetEnv(engine, corev1.EnvVar{Name: envExperimental, Value: "True"})
	wiring.SetEnv(engine, corev1.EnvVar{Name: adapters.EnvFailOpen, Value: strconv.FormatBool(r.FailOpen())})
	addVolumes(pod, engine, shared, r)
	wiring.SetInitContainer(pod, worker(engine, shared, r))
	return nil
}

// addVolumes gives the engine what it shares with its worker.
func addVolumes(pod *corev1.Pod, engine *corev1.Container, shared corev1.VolumeMount, r wiring.Request) {
	wiring.SetVolume(pod, corev1.Volume{Name: configVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	wiring.SetMount(engine, corev1.VolumeMount{Name: configVolume, MountPath: configFolder})
	if shared.Name != sharedVolume {
		return
	}
	limit := workerMemory(r)
	wiring.SetVolume(pod, corev1.Volume{Name: sharedVolume, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &limit},
	}})
	wiring.SetMount(engine, shared)
}

// checkNames refuses a Pod in which something else has the names of the wiring. What
// a worker that was injected before brought along is ours.
func checkNames(pod *corev1.Pod, engine *corev1.Container) error {
	if other := wiring.ContainerNamed(pod, WorkerContainer); other != nil {
		if !wiring.HasEnv(other, envWorker) {
			return wiring.Refuse(wiring.ReasonReservedName, "the Pod has a container called %s; give it another name", WorkerContainer)
		}
		return nil
	}
	for _, name := range []string{configVolume, sharedVolume} {
		if wiring.HasVolume(pod, name) {
			return wiring.Refuse(wiring.ReasonReservedName, "the Pod has a volume called %s; give it another name", name)
		}
	}
	for _, mount := range engine.VolumeMounts {
		if path.Clean(mount.MountPath) == configFolder {
			return wiring.Refuse(wiring.ReasonReservedName, "the engine mounts %s at %s; mount it elsewhere", mount.Name, configFolder)
		}
	}
	return nil
}
