/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/sglang"
	"inferencecache.io/inference-cache/pkg/adapters/sglanghicache"
	"inferencecache.io/inference-cache/pkg/adapters/vllm"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// engine is the injections of one pair of runtime and cache type.
type engine struct {
	// container finds the engine in a Pod.
	container func(*corev1.Pod) (*corev1.Container, error)
	// inject wires the engine to its cache.
	inject func(*corev1.Pod, wiring.Request) error
	// injectEvents makes the engine publish its events.
	injectEvents func(*corev1.Pod) error
	// listen says where it publishes them.
	listen func(*corev1.Pod) (wiring.Events, error)
	// checkKernels adds a check of LMCache's kernels; nil if the pair has none.
	checkKernels func(pod *corev1.Pod, mode string) error
	// layout describes the KV layout of the engine in a Pod, empty if it cannot be told;
	// nil if the pair shares no store.
	layout func(*corev1.Pod) string
	// spills says that what the engine evicts stays in a tier that it does not announce.
	spills bool
}

// engineOf returns the injections of a backend.
func engineOf(backend *v1alpha1.CacheBackend) (engine, bool) {
	type pair struct {
		runtime   v1alpha1.Runtime
		cacheType v1alpha1.CacheBackendType
	}
	engines := map[pair]engine{
		{v1alpha1.RuntimeVLLM, v1alpha1.CacheBackendTypeLMCache}: {
			vllm.Engine, vllm.Inject, vllm.InjectEvents, vllm.Listen, vllm.KernelCheck, vllm.Layout, true,
		},
		{v1alpha1.RuntimeSGLang, v1alpha1.CacheBackendTypeLMCache}: {
			sglang.Engine, sglang.Inject, sglang.InjectEvents, sglang.Listen, nil, sglang.Layout, true,
		},
		{v1alpha1.RuntimeSGLang, v1alpha1.CacheBackendTypeSGLangHiCache}: {
			sglang.Engine, sglanghicache.Inject, sglang.InjectEvents, sglang.Listen, nil, nil, false,
		},
	}
	cacheType := backend.Spec.Type
	if cacheType == "" {
		cacheType = v1alpha1.CacheBackendTypeLMCache
	}
	e, ok := engines[pair{backend.Spec.Runtime, cacheType}]
	return e, ok
}

// Wire returns a Pod wired to a backend, whose namespace it is in. The Pod that is
// given stays as it is. The error is a *wiring.Refusal.
func Wire(pod *corev1.Pod, backend *v1alpha1.CacheBackend, settings Settings) (*corev1.Pod, error) {
	e, known := engineOf(backend)
	if !known {
		return nil, wiring.Refuse(wiring.ReasonUnsupported, "nothing wires %s to %s", backend.Spec.Runtime, backend.Spec.Type)
	}
	request, err := newRequest(backend, settings)
	if err != nil {
		return nil, err
	}
	wired := pod.DeepCopy()
	if eventsOnly(backend) {
		err = wireEvents(wired, e, request, settings)
	} else {
		err = wireCache(wired, e, request, settings)
	}
	if err != nil {
		return nil, err
	}
	markWired(wired, backend)
	return wired, nil
}

func eventsOnly(backend *v1alpha1.CacheBackend) bool {
	return backend.Spec.Integration != nil && backend.Spec.Integration.Mode == v1alpha1.IntegrationModeEventsOnly
}

// wireEvents lets the events of an engine be heard and touches nothing else of it.
func wireEvents(pod *corev1.Pod, e engine, r wiring.Request, settings Settings) error {
	if !r.Subscribed {
		return wiring.Refuse(wiring.ReasonNoSubscriber,
			"mode EventsOnly adds nothing but a subscriber, which needs spec.observation.modelID and a manager with a subscriber's image")
	}
	if err := amended(pod, e, r, func() error { return e.injectEvents(pod) }); err != nil {
		return err
	}
	events, err := e.listen(pod)
	if err != nil {
		return err
	}
	return addSubscriber(pod, r.Backend, events, settings)
}

// wireCache wires an engine to its cache and lets its events be heard.
func wireCache(pod *corev1.Pod, e engine, r wiring.Request, settings Settings) error {
	err := amended(pod, e, r, func() error {
		if err := e.inject(pod, r); err != nil || !r.Subscribed {
			return err
		}
		return e.injectEvents(pod)
	})
	if err != nil {
		return err
	}
	// What an operator has added may be a cache of another kind.
	if err := e.inject(pod.DeepCopy(), r); err != nil {
		return err
	}
	if e.checkKernels != nil {
		if err := e.checkKernels(pod, r.Backend.Annotations[v1alpha1.AnnotationKernelCheck]); err != nil {
			return err
		}
	}
	if !r.Subscribed {
		return nil
	}
	events, err := e.listen(pod)
	if refusal := wiring.Refused(err); refusal != nil && refusal.Reason == wiring.ReasonEventsDisabled {
		// The cache is of use without its events.
		return nil
	}
	if err != nil {
		return err
	}
	events.RemovalsInferred = e.spills
	return addSubscriber(pod, r.Backend, events, settings)
}

// amended runs an injection, then amends what it has done to the engine's container
// as the operator wants it.
func amended(pod *corev1.Pod, e engine, r wiring.Request, injection func() error) error {
	container, err := e.container(pod)
	if err != nil {
		return err
	}
	before := container.DeepCopy()
	if err := injection(); err != nil {
		return err
	}
	if r.Backend.Spec.Integration == nil {
		return nil
	}
	// The injection may have moved the container.
	if container, err = e.container(pod); err != nil {
		return err
	}
	amend(container, before, r.Backend.Spec.Integration.EngineOverrides)
	return nil
}
