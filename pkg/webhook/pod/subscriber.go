/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// How a subscriber and the index know each other.
const (
	// identityVolume has a token that is good for this Pod and this system only, and the
	// certificates that verify the index. The kubelet replaces both as they change.
	identityVolume = "inference-cache-identity"
	identityFolder = "/var/run/secrets/inferencecache.io"
	tokenFile      = "token"
	caFile         = "ca.crt"
	// tokenLifetime is how long a token is good; the kubelet renews it well before.
	tokenLifetime = 3600
)

const (
	// metricsPort is where a subscriber serves its own metrics.
	metricsPort = 9102
	// subscriberUser owns nothing.
	subscriberUser = 65532
)

// addSubscriber gives a Pod the container that reports its engine's events. It starts
// last before the engine and, as a native sidecar, ends after it and does not keep a
// Job from completing.
func addSubscriber(pod *corev1.Pod, backend *v1alpha1.CacheBackend, events wiring.Events, settings Settings) error {
	other := wiring.ContainerNamed(pod, wiring.SubscriberContainer)
	ours := other != nil && slices.ContainsFunc(other.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == identityVolume })
	if other != nil && !ours {
		return wiring.Refuse(wiring.ReasonReservedName, "the Pod has a container called %s; remove it", wiring.SubscriberContainer)
	}
	if other == nil && wiring.HasVolume(pod, identityVolume) {
		return wiring.Refuse(wiring.ReasonReservedName, "the Pod has a volume called %s; give it another name", identityVolume)
	}
	wiring.SetVolume(pod, identity(settings))
	container := subscriber(pod, backend, events, settings)
	if settings.NativeSidecars {
		container.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		wiring.SetInitContainer(pod, container)
		return nil
	}
	wiring.SetContainer(pod, container)
	return nil
}

// identity returns the volume with token and certificates. The certificates are
// optional: an engine does not wait for them, its subscriber does.
func identity(settings Settings) corev1.Volume {
	return corev1.Volume{Name: identityVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To(corev1.ProjectedVolumeSourceDefaultMode),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: v1alpha1.GroupName, ExpirationSeconds: ptr.To[int64](tokenLifetime), Path: tokenFile,
			}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: settings.CAConfigMap},
				Items:                []corev1.KeyToPath{{Key: caFile, Path: caFile}},
				Optional:             ptr.To(true),
			}},
		},
	}}}
}

func subscriber(pod *corev1.Pod, backend *v1alpha1.CacheBackend, events wiring.Events, settings Settings) corev1.Container {
	c := corev1.Container{
		Name:  wiring.SubscriberContainer,
		Image: settings.SubscriberImage,
		Args:  subscriberArgs(pod, backend, events, settings),
		Env: []corev1.EnvVar{
			ownField("POD_NAME", "metadata.name"),
			ownField("POD_NAMESPACE", "metadata.namespace"),
		},
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: identityVolume, MountPath: identityFolder, ReadOnly: true}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		SecurityContext: &corev1.SecurityContext{
			RunAsNonRoot:             ptr.To(true),
			RunAsUser:                ptr.To[int64](subscriberUser),
			RunAsGroup:               ptr.To[int64](subscriberUser),
			ReadOnlyRootFilesystem:   ptr.To(true),
			AllowPrivilegeEscalation: ptr.To(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	if !pod.Spec.HostNetwork {
		c.Ports = []corev1.ContainerPort{{Name: "kv-metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP}}
	}
	return c
}

func ownField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
	}}
}

func subscriberArgs(pod *corev1.Pod, backend *v1alpha1.CacheBackend, events wiring.Events, settings Settings) []string {
	args := []string{
		"--engine-endpoint=" + events.Endpoint,
		"--server=" + settings.IndexServer,
		"--token-file=" + identityFolder + "/" + tokenFile,
		"--ca-file=" + identityFolder + "/" + caFile,
		"--replica-id=$(POD_NAME)",
		"--tenant-id=$(POD_NAMESPACE)",
		"--backend=" + backend.Name,
		"--model-id=" + verbatim(backend.Spec.Observation.ModelID),
		"--hash-scheme=" + events.HashScheme,
		"--engine-metrics-url=" + events.MetricsURL,
	}
	if events.ReplayEndpoint != "" {
		args = append(args, "--engine-replay-endpoint="+events.ReplayEndpoint)
	}
	if events.Topic != "" {
		args = append(args, "--topic="+verbatim(events.Topic))
	}
	if events.Ranks > 1 {
		args = append(args, "--data-parallel-size="+strconv.Itoa(events.Ranks))
	}
	if events.RemovalsInferred {
		args = append(args, "--ignore-block-removed=true")
	}
	if pod.Spec.HostNetwork {
		// Its port would be one of the node, on which there may be other engines.
		args = append(args, "--metrics-bind-address=0")
	}
	return args
}

// verbatim keeps the kubelet from putting variables into a text.
func verbatim(text string) string {
	return strings.ReplaceAll(text, "$", "$$")
}
