/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestGeneratedPasswordVanishes holds that a password which is lost is replaced, and
// that the store takes the new one.
func TestGeneratedPasswordVanishes(t *testing.T) {
	ways := map[string]func(*testing.T, *harness, *corev1.Secret){
		"the Secret": func(t *testing.T, h *harness, s *corev1.Secret) {
			if err := h.client.Delete(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		},
		"the key": func(t *testing.T, h *harness, s *corev1.Secret) {
			s.Data = map[string][]byte{"other": []byte("x")}
			if err := h.client.Update(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, lose := range ways {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, newBackend(managedRedis))
			h.look(t)
			h.serve(t)
			h.look(t)
			before, revision := h.password(t), h.revision(t)
			secret := &corev1.Secret{}
			h.get(t, testName+"-store-password", secret)
			lose(t, h, secret)

			h.look(t)
			if got := h.revision(t); got != revision {
				t.Error("the Secret of a store that works is looked at too early")
			}
			h.pass(credentialsStand)
			h.look(t)
			if got := h.password(t); got == before || got == "" {
				t.Errorf("the password is %q, want a new one", got)
			}
			if got := h.revision(t); got == revision {
				t.Error("the store does not restart for its new password")
			}
		})
	}
}

// TestPasswordOfBrokenStore holds that a store which does not work has its Secret
// looked at.
func TestPasswordOfBrokenStore(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	h.look(t)
	secret := &corev1.Secret{}
	h.get(t, testName+"-store-password", secret)
	if err := h.client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	h.look(t)
	if diff := cmp.Diff(redisObjects, h.owned(t)); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
}

// TestPasswordStays holds that one password serves a store for all its life.
func TestPasswordStays(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	h.look(t)
	want := h.password(t)
	for range 3 {
		h.pass(credentialsStand)
		h.look(t)
		h.Reconciler = h.newReconciler(t)
		h.look(t)
	}
	if got := h.password(t); got != want {
		t.Error("the password has changed")
	}
}

// TestExternalPassword holds what is said of the password of somebody else's store.
func TestExternalPassword(t *testing.T) {
	external := newBackend(externalRedis)
	external.Spec.RemoteStorage.PasswordSecretRef = &v1alpha1.SecretKeyReference{Name: "redis", Key: "password"}
	h := newHarness(t, external)
	expect := func(when, want string) {
		t.Helper()
		h.look(t)
		if got := h.ready(t); got != want {
			t.Errorf("%s: Ready is %s, want %s", when, got, want)
		}
	}
	expect("no Secret", "False/CredentialsMissing")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "redis"}}
	if err := h.client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	expect("no key", "False/CredentialsMissing")
	secret.Data = map[string][]byte{"password": []byte("x")}
	if err := h.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	expect("all there", "True/ExternalEndpointAccepted")
	if err := h.client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	expect("just deleted", "True/ExternalEndpointAccepted")
	h.pass(credentialsStand)
	expect("deleted", "False/CredentialsMissing")
}

func (h *harness) password(t *testing.T) string {
	t.Helper()
	secret := &corev1.Secret{}
	h.get(t, testName+"-store-password", secret)
	return string(secret.Data[workload.PasswordKey])
}

// revision is what the Pods of the store say of their password.
func (h *harness) revision(t *testing.T) string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	h.get(t, testName, deployment)
	return deployment.Spec.Template.Annotations[workload.AnnotationPasswordRevision]
}
