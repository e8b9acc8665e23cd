/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// maxMessage bounds what is written on a Pod about why it was not wired, in bytes. It
// may quote what the Pod's owner wrote, and a Pod with too much in its annotations is
// refused.
const maxMessage = 1024

// markWired stamps who wired a Pod.
func markWired(pod *corev1.Pod, backend *v1alpha1.CacheBackend) {
	stripMarkers(pod)
	annotate(pod, v1alpha1.AnnotationInjectedBy, backend.Namespace+"/"+backend.Name)
	annotate(pod, v1alpha1.AnnotationInjectedByUID, string(backend.UID))
}

// markSkipped stamps why a Pod was not wired.
func markSkipped(pod *corev1.Pod, reason, message string) {
	stripMarkers(pod)
	annotate(pod, v1alpha1.AnnotationInjectSkipped, reason)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage-len("...")], "") + "..."
	}
	if message != "" {
		annotate(pod, v1alpha1.AnnotationInjectSkippedMessage, message)
	}
}

// stripMarkers takes off what claims that a Pod was wired or left out: anybody can
// write it into a template.
func stripMarkers(pod *corev1.Pod) {
	delete(pod.Annotations, v1alpha1.AnnotationInjectedBy)
	delete(pod.Annotations, v1alpha1.AnnotationInjectedByUID)
	delete(pod.Annotations, v1alpha1.AnnotationInjectSkipped)
	delete(pod.Annotations, v1alpha1.AnnotationInjectSkippedMessage)
}

func annotate(pod *corev1.Pod, key, value string) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[key] = value
}

// optedOut tells whether a Pod does not want to be wired. Whatever is not clearly a
// no is a yes.
func optedOut(pod *corev1.Pod) bool {
	text := strings.TrimSpace(pod.Annotations[v1alpha1.AnnotationSkipInject])
	if value, err := strconv.ParseBool(text); err == nil {
		return value
	}
	switch strings.ToLower(text) {
	case "", "no", "off", "disable", "disabled":
		return false
	default:
		return true
	}
}
