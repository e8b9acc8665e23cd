/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const (
	// defaultGrace is how long a Pod may take to end when the template does not say,
	// in seconds. It is the default of Kubernetes.
	defaultGrace int64 = 30

	scratchVolume = "scratch"
	scratchPath   = "/tmp"
)

// podTemplate is the template of a store's Pods: our container and our hardening,
// and over it what the backend's template sets.
func podTemplate(in Input, server Server) corev1.PodTemplateSpec {
	spec := corev1.PodSpec{
		Containers:                    []corev1.Container{container(in, server)},
		DNSPolicy:                     corev1.DNSClusterFirst,
		SchedulerName:                 corev1.DefaultSchedulerName,
		TerminationGracePeriodSeconds: ptr.To(defaultGrace),
		// A store talks to no API server, and the addresses of other Services are no
		// configuration of it.
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			RunAsUser:      ptr.To(server.User),
			RunAsGroup:     ptr.To(server.User),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	if server.Scratch {
		spec.Volumes = []corev1.Volume{{Name: scratchVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	if server.store().HostNetwork {
		spec.HostNetwork = true
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	override(&spec, in.Backend.Spec.Template)
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: Labels(in.Backend)}, Spec: spec}
	if server.Password {
		template.Annotations = map[string]string{AnnotationPasswordRevision: passwordRevision(in)}
	}
	return template
}

// container is the one container of a store's Pods, as the restricted profile of
// Pod security wants it.
func container(in Input, server Server) corev1.Container {
	c := corev1.Container{
		Name:            server.Name,
		Image:           server.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         append([]string(nil), server.Command...),
		Args:            append([]string(nil), server.Args...),
		Env:             append([]corev1.EnvVar(nil), server.Env...),
		Resources:       resources(in.Backend, server),
		StartupProbe:    startupProbe(server),
		ReadinessProbe:  readinessProbe(server),
		LivenessProbe:   livenessProbe(server),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	for _, port := range server.Ports {
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: port.Name, ContainerPort: port.Number, Protocol: corev1.ProtocolTCP})
	}
	if server.Password {
		c.Env = append(c.Env, passwordEnv(in.Backend))
	}
	if server.Scratch {
		c.VolumeMounts = []corev1.VolumeMount{{Name: scratchVolume, MountPath: scratchPath}}
	}
	return c
}

// override puts what a template sets in the place of what we would have. A field
// is replaced as a whole; an operator who gives a security context answers for all
// of it.
func override(spec *corev1.PodSpec, template *v1alpha1.PodTemplateOverrides) {
	if template == nil {
		return
	}
	from := template.DeepCopy()
	spec.NodeSelector = from.NodeSelector
	spec.Affinity = from.Affinity
	spec.Tolerations = from.Tolerations
	spec.TopologySpreadConstraints = from.TopologySpreadConstraints
	spec.ImagePullSecrets = from.ImagePullSecrets
	spec.ServiceAccountName = from.ServiceAccountName
	spec.PriorityClassName = from.PriorityClassName
	spec.RuntimeClassName = from.RuntimeClassName
	if from.SecurityContext != nil {
		spec.SecurityContext = from.SecurityContext
	}
	if from.SchedulerName != "" {
		spec.SchedulerName = from.SchedulerName
	}
	if from.TerminationGracePeriodSeconds != nil {
		spec.TerminationGracePeriodSeconds = from.TerminationGracePeriodSeconds
	}
}
