//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// errNotOne is why the only Pod of a selector is waited for.
var errNotOne = errors.New("there is not exactly one Pod that runs")

// model is what the engines serve.
const model = "example/model"

// backendSpec is a backend of engines of SGLang.
func backendSpec() v1alpha1.CacheBackendSpec {
	return v1alpha1.CacheBackendSpec{
		Runtime:        v1alpha1.RuntimeSGLang,
		EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}},
		Observation:    &v1alpha1.ObservationSpec{ModelID: model},
	}
}

// managedRedis is one with a store that the manager runs.
func managedRedis() v1alpha1.CacheBackendSpec {
	spec := backendSpec()
	spec.RemoteStorage = &v1alpha1.RemoteStorage{Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipManaged}
	return spec
}

// TestManagedRedis follows a store from nothing to the first event of an engine, and
// back to nothing.
func TestManagedRedis(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	c.create(t, "cache", managedRedis())
	backend := c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	if want := "cache." + c.namespace + ".svc:6379"; backend.Status.Endpoint != want {
		t.Errorf("the endpoint is %q, want %q", backend.Status.Endpoint, want)
	}
	pod := c.engines(t, "engine", backend)
	c.report(t, pod, 0)
	backend = c.awaitReady(t, "cache", metav1.ConditionTrue, v1alpha1.ReasonKVEventsObserved)
	status := backend.Status
	if status.MatchedEnginePods == nil || *status.MatchedEnginePods != 1 || status.IndexParticipation == nil || status.IndexParticipation.PrefixCount == 0 {
		t.Errorf("wrong status: %+v", status)
	}
	if status.ObservedServerInstance == "" || status.Replicas != 1 || status.Selector == "" || status.FirstKVEventObservedAt == nil {
		t.Errorf("wrong status: %+v", status)
	}
	want := []string{"Deployment cache", "NetworkPolicy cache", "Secret cache-store-password", "Service cache"}
	if diff := cmp.Diff(want, c.owned(t, backend)); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
	c.awaitEvents(t, "cache", v1alpha1.ReasonAwaitingFirstKVEvent, v1alpha1.ReasonKVEventsObserved)

	if err := c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Delete(t.Context(), "cache", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if owned := c.owned(t, backend); len(owned) > 0 {
			return fmt.Errorf("%v are left", owned)
		}
		return nil
	})
}

// TestManagedStatefulSet holds that the other kind of workload runs a store too, and
// that the first one goes when the kind changes.
func TestManagedStatefulSet(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	spec := managedRedis()
	spec.DeploymentKind = v1alpha1.DeploymentKindStatefulSet
	backend := c.create(t, "cache", spec)
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	common := []string{"NetworkPolicy cache", "Secret cache-store-password", "Service cache"}
	if diff := cmp.Diff(append(slices.Clone(common), "StatefulSet cache"), c.owned(t, backend)); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
	c.patch(t, "cache", `{"spec":{"deploymentKind":"Deployment"}}`)
	c.awaitOwned(t, backend, append([]string{"Deployment cache"}, common...))
}

// TestManagedOnVLLM holds what the other providers are made of.
func TestManagedOnVLLM(t *testing.T) {
	t.Parallel()
	tests := map[v1alpha1.StorageProvider][]string{
		v1alpha1.StorageProviderLMCacheServer: {"Deployment cache", "NetworkPolicy cache", "Service cache"},
		v1alpha1.StorageProviderMooncake:      {"Deployment cache", "Service cache"},
	}
	for provider, want := range tests {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			c := newClients(t)
			spec := managedRedis()
			spec.Runtime, spec.RemoteStorage.Provider = v1alpha1.RuntimeVLLM, provider
			backend := c.create(t, "cache", spec)
			c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
			c.awaitOwned(t, backend, want)
		})
	}
}

// TestAutoscaling holds that a store with an autoscaler has what belongs to it, and
// loses it with the autoscaler.
func TestAutoscaling(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	spec := managedRedis()
	spec.Runtime, spec.RemoteStorage.Provider = v1alpha1.RuntimeVLLM, v1alpha1.StorageProviderLMCacheServer
	spec.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 3}
	backend := c.create(t, "cache", spec)
	with := []string{"Deployment cache", "HorizontalPodAutoscaler cache", "NetworkPolicy cache", "PodDisruptionBudget cache", "Service cache"}
	c.awaitOwned(t, backend, with)
	c.patch(t, "cache", `{"spec":{"autoscaling":null}}`)
	c.awaitOwned(t, backend, []string{"Deployment cache", "NetworkPolicy cache", "Service cache"})
}

// TestScaledToZero holds that a store which is switched off says so, and comes back.
func TestScaledToZero(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	c.create(t, "cache", managedRedis())
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	c.patch(t, "cache", `{"spec":{"replicas":0}}`)
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
	c.patch(t, "cache", `{"spec":{"replicas":1}}`)
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
}

// TestWithoutStore holds what is said of backends for which nothing is provisioned.
func TestWithoutStore(t *testing.T) {
	t.Parallel()
	external := backendSpec()
	external.RemoteStorage = &v1alpha1.RemoteStorage{
		Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipExternal, Endpoint: "redis.example.com:6379",
	}
	locked := *external.DeepCopy()
	locked.RemoteStorage.PasswordSecretRef = &v1alpha1.SecretKeyReference{Name: "missing", Key: "password"}
	eventsOnly := backendSpec()
	eventsOnly.Integration = &v1alpha1.IntegrationSpec{Mode: v1alpha1.IntegrationModeEventsOnly}
	hiCache := backendSpec()
	hiCache.Type, hiCache.HiCache = v1alpha1.CacheBackendTypeSGLangHiCache, &v1alpha1.HiCacheConfig{Ratio: "2.0"}
	tests := map[string]struct {
		spec   v1alpha1.CacheBackendSpec
		status metav1.ConditionStatus
		reason string
		types  []string
	}{
		"External": {
			spec: external, status: metav1.ConditionTrue, reason: v1alpha1.ReasonExternalEndpointAccepted,
			types: []string{"Progressing", "Ready"},
		},
		"External without its password": {
			spec: locked, status: metav1.ConditionFalse, reason: v1alpha1.ReasonCredentialsMissing,
			types: []string{"Progressing", "Ready"},
		},
		"host-only": {
			spec: backendSpec(), status: metav1.ConditionFalse, reason: v1alpha1.ReasonAwaitingFirstKVEvent,
			types: []string{"Degraded", "Progressing", "Ready"},
		},
		"EventsOnly": {
			spec: eventsOnly, status: metav1.ConditionFalse, reason: v1alpha1.ReasonAwaitingFirstKVEvent,
			types: []string{"Degraded", "Progressing", "Ready"},
		},
		"HiCache": {
			spec: hiCache, status: metav1.ConditionFalse, reason: v1alpha1.ReasonAwaitingHiCacheEvents, types: []string{"Ready"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClients(t)
			c.create(t, "cache", tc.spec)
			backend := c.awaitReady(t, "cache", tc.status, tc.reason)
			var types []string
			for _, condition := range backend.Status.Conditions {
				types = append(types, condition.Type)
				if condition.ObservedGeneration != backend.Generation {
					t.Errorf("%s is of generation %d, the backend of %d", condition.Type, condition.ObservedGeneration, backend.Generation)
				}
			}
			slices.Sort(types)
			if diff := cmp.Diff(tc.types, types); diff != "" {
				t.Errorf("wrong conditions (-want +got):\n%s", diff)
			}
			if owned := c.owned(t, backend); len(owned) > 0 {
				t.Errorf("%v were made", owned)
			}
		})
	}
}

// TestHiCache holds that an engine with a tier in its host's memory makes its backend
// ready once it has put something there.
func TestHiCache(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	spec := backendSpec()
	spec.Type, spec.HiCache = v1alpha1.CacheBackendTypeSGLangHiCache, &v1alpha1.HiCacheConfig{Ratio: "2.0"}
	backend := c.create(t, "cache", spec)
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingHiCacheEvents)
	c.report(t, c.engines(t, "engine", backend), 64)
	c.awaitReady(t, "cache", metav1.ConditionTrue, v1alpha1.ReasonHiCacheActive)
}

// TestOwnershipConflict holds that a Service of somebody else is not touched, and
// that the backend takes up when it has gone.
func TestOwnershipConflict(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	theirs, err := c.CoreV1().Services(c.namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "cache"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "theirs"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.create(t, "cache", managedRedis())
	backend := c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonOwnershipConflict)
	now, err := c.CoreV1().Services(c.namespace).Get(t.Context(), "cache", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(theirs, now); diff != "" {
		t.Errorf("the Service was changed (-before +after):\n%s", diff)
	}
	if backend.Status.Endpoint != "" {
		t.Errorf("the endpoint is %q, which is not the store's", backend.Status.Endpoint)
	}
	if err := c.CoreV1().Services(c.namespace).Delete(t.Context(), "cache", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// Nobody watches what is not ours; the next change of the backend has it seen.
	c.patch(t, "cache", `{"spec":{"replicas":0}}`)
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonScaledToZero)
}

// TestChangeOfMode holds that a backend which needs no store any more has none.
func TestChangeOfMode(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	backend := c.create(t, "cache", managedRedis())
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	c.patch(t, "cache", `{"spec":{"remoteStorage":null}}`)
	c.awaitOwned(t, backend, nil)
	eventually(t, func() error {
		now, err := c.get(t.Context(), "cache")
		if err != nil {
			return err
		}
		if progress := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionProgressing); now.Status.Endpoint != "" || progress == nil {
			return fmt.Errorf("wrong status: %+v", now.Status)
		}
		return nil
	})
}
