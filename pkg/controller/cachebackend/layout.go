/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/sglang"
	"inferencecache.io/inference-cache/pkg/adapters/vllm"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// annotationLayout has the KV layout of an engine. It is never taken from a Pod of the
// cluster, whose owner may write there what he likes.
const annotationLayout = wiring.AnnotationLayout

// layoutOf returns the KV layout of the engine in a Pod that is wired, empty if it
// cannot be told. A Pod may come to the cache's transformation a second time.
func layoutOf(pod *corev1.Pod) string {
	switch {
	case pod.Annotations[v1alpha1.AnnotationInjectedByUID] == "":
		return ""
	case isStripped(pod):
		return pod.Annotations[annotationLayout]
	case slices.ContainsFunc(pod.Spec.Containers, wantsLMCache):
		return sglang.Layout(pod)
	default:
		return vllm.Layout(pod)
	}
}

// isStripped tells what the cache keeps of a Pod from a Pod: every container of one
// has an image.
func isStripped(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Image != "" })
}

// wantsLMCache recognises an SGLang that is wired to a store.
func wantsLMCache(c corev1.Container) bool {
	_, flags, err := sglang.Read(&c)
	return err == nil && flags.Given(sglang.FlagEnableLMCache)
}
