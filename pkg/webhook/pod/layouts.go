/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// checkLayout refuses a wired Pod that would share a store with engines of another KV
// layout: they would load each other's blocks and answer with wrong tokens. Pods that
// are made at the same time do not see each other; the condition EngineCompatibility
// does.
func (h *Handler) checkLayout(ctx context.Context, pod *corev1.Pod, backend *v1alpha1.CacheBackend) error {
	e, known := engineOf(backend)
	if !known || e.layout == nil || backend.Spec.RemoteStorage == nil || eventsOnly(backend) {
		return nil
	}
	layout := e.layout(pod)
	if layout == "" {
		return nil
	}
	var list corev1.PodList
	if err := h.options.Pods.List(ctx, &list, client.InNamespace(backend.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("read the Pods of namespace %s: %w", backend.Namespace, err)
	}
	for i := range list.Items {
		if other := &list.Items[i]; sharesStore(other, backend) && other.Annotations[wiring.AnnotationLayout] != layout {
			return wiring.Refuse(wiring.ReasonMixedKVLayouts,
				"the engine has the KV layout %q and Pod %s of the same store %q; give them the same flags, or this one a CacheBackend of its own",
				layout, other.Name, other.Annotations[wiring.AnnotationLayout])
		}
	}
	return nil
}

// sharesStore tells whether a Pod of the cache is an engine of a backend whose layout
// is known and that may still store blocks.
func sharesStore(pod *corev1.Pod, backend *v1alpha1.CacheBackend) bool {
	return pod.Annotations[v1alpha1.AnnotationInjectedByUID] == string(backend.UID) && pod.Annotations[wiring.AnnotationLayout] != "" &&
		pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}
