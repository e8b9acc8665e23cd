/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Path is where the webhook is served.
const Path = "/mutate--v1-pod"

// readTimeout bounds the wait for a cache that is not filled yet, and for the cluster's
// version before it is known. The cluster waits longer than both for an answer.
const readTimeout = 2 * time.Second

// Options are what a Handler needs.
type Options struct {
	// Backends reads CacheBackends from a cache.
	Backends client.Reader
	// Pods reads Pods from a cache, in which wiring.AnnotationLayout has the layout of
	// those that are wired.
	Pods client.Reader
	// Decoder knows Pods.
	Decoder admission.Decoder
	// Settings are those of all Pods, without NativeSidecars.
	Settings Settings
	// NativeSidecars tells whether the cluster has them.
	NativeSidecars func(context.Context) (bool, error)
	// Namespace is our own, in which no Pod is touched.
	Namespace string
	// Registerer receives the metrics.
	Registerer prometheus.Registerer
}

// Handler answers the cluster about Pods that are created. It allows all of them.
// It may be called concurrently.
type Handler struct {
	options Options
	metrics *metrics
}

var _ admission.Handler = &Handler{}

// NewHandler returns a Handler and registers its metrics.
func NewHandler(options Options) (*Handler, error) {
	m, err := newMetrics(options.Registerer)
	if err != nil {
		return nil, err
	}
	return &Handler{options: options, metrics: m}, nil
}

// Handle implements admission.Handler.
func (h *Handler) Handle(ctx context.Context, request admission.Request) (response admission.Response) {
	logger := klog.FromContext(ctx).WithValues("namespace", request.Namespace, "pod", podName(request))
	defer func() {
		// A panic that is left to the library refuses the Pod.
		if defect := recover(); defect != nil {
			h.metrics.count(outcomeFailed, reasonDefect)
			logger.Error(fmt.Errorf("panic: %v", defect), "A Pod was admitted without being wired")
			response = admission.Allowed("not wired: defect")
		}
	}()
	if request.Operation != admissionv1.Create || request.SubResource != "" || excluded(request.Namespace, h.options.Namespace) {
		return admission.Allowed("")
	}
	pod := &corev1.Pod{}
	if err := h.options.Decoder.Decode(request, pod); err != nil {
		h.metrics.count(outcomeFailed, reasonDefect)
		logger.Error(err, "A Pod was admitted that could not be read")
		return admission.Allowed("not wired: the Pod could not be read")
	}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		// It shows what a kubelet runs already, and may have no token.
		return admission.Allowed("")
	}
	return patch(logger, pod, h.admit(ctx, logger, request.Namespace, pod))
}

// admit returns what becomes of a Pod.
func (h *Handler) admit(ctx context.Context, logger logr.Logger, namespace string, pod *corev1.Pod) *corev1.Pod {
	left := pod.DeepCopy()
	if optedOut(pod) {
		h.metrics.count(outcomeSkipped, v1alpha1.InjectSkippedByAnnotation)
		markSkipped(left, v1alpha1.InjectSkippedByAnnotation, "")
		return left
	}
	stripMarkers(left)
	backends, err := h.backends(ctx, namespace)
	if err != nil {
		h.metrics.count(outcomeFailed, reasonUnread)
		logger.Error(err, "A Pod was admitted without looking for its CacheBackend")
		return left
	}
	backend := selectBackend(backends, pod)
	if backend == nil {
		return left
	}
	wired, err := h.wire(ctx, pod, backend)
	refusal := wiring.Refused(err)
	switch {
	case refusal != nil:
		h.metrics.count(outcomeSkipped, refusal.Reason)
		logger.Info("A Pod was not wired", "backend", backend.Name, "reason", refusal.Reason, "message", refusal.Message)
		markSkipped(left, refusal.Reason, refusal.Message)
		return left
	case err != nil:
		h.metrics.count(outcomeFailed, reasonUnread)
		logger.Error(err, "A Pod was admitted without being wired", "backend", backend.Name)
		return left
	}
	h.metrics.count(outcomeWired, reasonNone)
	logger.V(2).Info("A Pod was wired", "backend", backend.Name)
	return wired
}

// wire returns a Pod wired to a backend as this cluster allows.
func (h *Handler) wire(ctx context.Context, pod *corev1.Pod, backend *v1alpha1.CacheBackend) (*corev1.Pod, error) {
	settings := h.options.Settings
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var err error
	if settings.NativeSidecars, err = h.options.NativeSidecars(ctx); err != nil {
		return nil, fmt.Errorf("ask the cluster for its version: %w", err)
	}
	wired, err := Wire(pod, backend, settings)
	if err != nil {
		return nil, err
	}
	return wired, h.checkLayout(ctx, wired, backend)
}

// backends returns the backends of a namespace. They belong to the cache.
func (h *Handler) backends(ctx context.Context, namespace string) ([]v1alpha1.CacheBackend, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var list v1alpha1.CacheBackendList
	if err := h.options.Backends.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("read the CacheBackends of namespace %s: %w", namespace, err)
	}
	return list.Items, nil
}

// patch returns the difference between two Pods. Both are written by us, so that
// fields of later releases, which are not known here, are in neither and stay.
func patch(logger logr.Logger, before, after *corev1.Pod) admission.Response {
	original, err := json.Marshal(before)
	if err == nil {
		var changed []byte
		if changed, err = json.Marshal(after); err == nil {
			response := admission.PatchResponseFromRaw(original, changed)
			if response.Allowed {
				return response
			}
			err = errors.New(response.Result.Message)
		}
	}
	logger.Error(err, "A Pod was admitted without changes")
	return admission.Allowed("not wired: the changes could not be written")
}

// podName returns what is known of a Pod's name, which is made after this.
func podName(request admission.Request) string {
	if request.Name != "" {
		return request.Name
	}
	var meta struct {
		Metadata struct {
			GenerateName string `json:"generateName"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(request.Object.Raw, &meta) // no name is none
	return meta.Metadata.GenerateName
}
