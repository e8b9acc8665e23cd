/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// newRequest returns what a backend asks of an injection.
func newRequest(backend *v1alpha1.CacheBackend, settings Settings) (wiring.Request, error) {
	r := wiring.Request{
		Backend:               backend,
		Subscribed:            settings.SubscriberImage != "" && backend.Spec.Observation != nil && backend.Spec.Observation.ModelID != "",
		NativeSidecars:        settings.NativeSidecars,
		OmitLoadFailurePolicy: backend.Annotations[v1alpha1.AnnotationKVLoadFailurePolicy] == v1alpha1.KVLoadFailurePolicyOmit,
	}
	storage := backend.Spec.RemoteStorage
	if storage == nil || eventsOnly(backend) || unreachable(backend) {
		return r, nil
	}
	store, err := storeOf(backend)
	r.Store = store
	return r, err
}

// unreachable tells whether it is known that nobody answers where the store of a
// backend is. LMCache then gives up its host tier as well, so that an engine is
// better off with that tier alone.
func unreachable(backend *v1alpha1.CacheBackend) bool {
	if backend.Spec.RemoteStorage.Ownership == v1alpha1.StorageOwnershipManaged &&
		backend.Spec.Autoscaling == nil && backend.Spec.Replicas != nil && *backend.Spec.Replicas == 0 {
		return true
	}
	probed := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionFunctionalProbeOK)
	return probed != nil && probed.Status == metav1.ConditionFalse && probed.Reason == v1alpha1.ReasonProbeT2Failed
}

// storeOf returns the store of a backend. The address of a managed one is that of its
// Service, which is known before it is there.
func storeOf(backend *v1alpha1.CacheBackend) (*wiring.Store, error) {
	storage := backend.Spec.RemoteStorage
	address := stores.Address(backend)
	host, text, err := net.SplitHostPort(address)
	port, portErr := strconv.ParseUint(text, 10, 16)
	if err != nil || portErr != nil || host == "" || port == 0 {
		return nil, wiring.Refuse(wiring.ReasonEndpoint, "spec.remoteStorage.endpoint %q is not host:port; correct it", storage.Endpoint)
	}
	store := &wiring.Store{Host: host, Port: int32(port)} //nolint:gosec // 16 bits
	engine, declared := declarationOf(backend)
	for _, provider := range adapters.All().Stores {
		if provider.Provider == storage.Provider {
			store.Binding = provider.Binding
		}
	}
	if !declared || store.Binding == adapters.BindingHostOnly || !slices.Contains(engine.Bindings, store.Binding) {
		return nil, wiring.Refuse(wiring.ReasonUnsupported, "%s with %s does not go with %s", backend.Spec.Runtime, backend.Spec.Type, storage.Provider)
	}
	if ref := stores.PasswordRef(backend); ref != nil {
		failOpen := (&wiring.Request{Backend: backend}).FailOpen()
		store.Password = &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key,
			// An engine that may serve without its cache does not wait for a Secret.
			Optional: &failOpen,
		}
	}
	return store, nil
}

func declarationOf(backend *v1alpha1.CacheBackend) (adapters.Engine, bool) {
	for _, declared := range adapters.All().Engines {
		if declared.Runtime == backend.Spec.Runtime && declared.Type == backend.Spec.Type {
			return declared, true
		}
	}
	return adapters.Engine{}, false
}
