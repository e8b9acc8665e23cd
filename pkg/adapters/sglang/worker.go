/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

const (
	// defaultHostMemory is the size of the host tier in GiB when none is given.
	defaultHostMemory = 4
	// besidesHostMemory is what the worker needs next to the host tier, in GiB.
	besidesHostMemory = 1
	// defaultWorkerPort is where engine and worker meet when no port is given.
	defaultWorkerPort = 5555
	workerHost        = "127.0.0.1"
	// envStorePassword is where the worker takes the store's password from: its
	// arguments can be read by anybody who may read Pods.
	envStorePassword = "LMCACHE_RESP_PASSWORD"
)

// worker returns LMCache beside an engine.
func worker(engine *corev1.Container, shared corev1.VolumeMount, r wiring.Request) corev1.Container {
	memory := workerMemory(r)
	c := corev1.Container{
		Name:            WorkerContainer,
		Image:           r.LMCache().WorkerImage,
		RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
		Command:         []string{"sh", "-c", workerScript(r), WorkerContainer},
		Args:            workerArgs(r),
		Env:             workerEnv(r),
		SecurityContext: workerSecurity(engine),
		StartupProbe:    workerProbe(r),
		VolumeMounts:    []corev1.VolumeMount{{Name: configVolume, MountPath: configFolder}, shared},

		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: memory},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: memory},
		},
	}
	if c.Image == "" {
		c.Image, c.ImagePullPolicy = engine.Image, engine.ImagePullPolicy
	}
	return c
}

// workerScript writes the file by which the engine finds its worker, then becomes
// the worker.
func workerScript(r wiring.Request) string {
	return fmt.Sprintf(`printf 'chunk_size: %%s\nmp_host: "%%s"\nmp_port: %%s\n' %s %s %s > %s && exec "$@"`,
		r.ChunkSize(), workerHost, workerPort(r), configFile)
}

func workerArgs(r wiring.Request) []string {
	memory, _ := r.HostMemory(defaultHostMemory)
	args := []string{
		"python3", "-m", "lmcache.v1.multiprocess.server",
		"--host", workerHost, "--port", workerPort(r),
		"--chunk-size", r.ChunkSize(),
		"--l1-size-gb", strconv.FormatInt(memory, 10),
		"--eviction-policy", "LRU",
	}
	if r.Store == nil {
		return args
	}
	adapter, err := json.Marshal(struct {
		Type string `json:"type"`
		Host string `json:"host"`
		Port int32  `json:"port"`
	}{string(r.Store.Binding), r.Store.Host, r.Store.Port})
	if err != nil {
		panic(err) // texts and numbers can be written
	}
	return append(args, "--l2-adapter", string(adapter))
}

func workerEnv(r wiring.Request) []corev1.EnvVar {
	env := []corev1.EnvVar{
		// The engine hands over a device by its UUID, which the worker must be able to
		// see. Which one it will be is decided after admission.
		{Name: "NVIDIA_VISIBLE_DEVICES", Value: "all"},
		{Name: envWorker, Value: "true"},
	}
	if r.Store != nil && r.Store.Password != nil {
		env = append(env, corev1.EnvVar{Name: envStorePassword, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: r.Store.Password}})
	}
	return env
}

// workerSecurity runs the worker as the user that the engine is, who owns the shared
// memory, and with no privilege.
func workerSecurity(engine *corev1.Container) *corev1.SecurityContext {
	security := &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if own := engine.SecurityContext; own != nil {
		security.RunAsUser, security.RunAsGroup, security.RunAsNonRoot = own.RunAsUser, own.RunAsGroup, own.RunAsNonRoot
	}
	return security
}

// workerProbe holds the engine back until its worker listens: SGLang has no way to
// start without it.
func workerProbe(r wiring.Request) *corev1.Probe {
	connect := fmt.Sprintf("import socket; socket.create_connection((%q, %s), 1).close()", workerHost, workerPort(r))
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"python3", "-c", connect}}},
		TimeoutSeconds:   3,
		PeriodSeconds:    3,
		SuccessThreshold: 1,
		FailureThreshold: 40,
	}
}

func workerPort(r wiring.Request) string {
	if port := r.LMCache().WorkerPort; port != nil {
		return strconv.Itoa(int(*port))
	}
	return strconv.Itoa(defaultWorkerPort)
}

// workerMemory is what the worker needs: its host tier lies in shared memory, which
// is charged to it.
func workerMemory(r wiring.Request) resource.Quantity {
	memory, _ := r.HostMemory(defaultHostMemory)
	return wiring.Gibibytes(memory + besidesHostMemory)
}
