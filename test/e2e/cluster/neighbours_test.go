//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"fmt"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

var (
	getOptions    = metav1.GetOptions{}
	createOptions = metav1.CreateOptions{}
)

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestGarbageCollection deletes owners in one API server whose dependents are in
// the other.
func TestGarbageCollection(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends, maps := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace), clients.CoreV1().ConfigMaps(namespace)
	backend, err := backends.Create(t.Context(), newBackend("owner"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	configMap, err := maps.Create(t.Context(), newConfigMap("owner"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	owned := newConfigMap("owned")
	owned.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CacheBackend", Name: backend.Name, UID: backend.UID, BlockOwnerDeletion: ptr.To(true),
	}}
	if _, err := maps.Create(t.Context(), owned, createOptions); err != nil {
		t.Fatal(err)
	}
	ours := newBackend("owned")
	ours.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: configMap.Name, UID: configMap.UID, BlockOwnerDeletion: ptr.To(true),
	}}
	if _, err := backends.Create(t.Context(), ours, createOptions); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	// In the foreground an owner goes after what it owns; in the background before.
	if err := backends.Delete(t.Context(), backend.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), configMap.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	for what, get := range map[string]func() error{
		"the ConfigMap of a CacheBackend": func() error { _, err := maps.Get(t.Context(), "owned", getOptions); return err },
		"its CacheBackend":                func() error { _, err := backends.Get(t.Context(), "owner", getOptions); return err },
		"the CacheBackend of a ConfigMap": func() error { _, err := backends.Get(t.Context(), "owned", getOptions); return err },
	} {
		eventually(t, func() error { return isGone(get()) })
		t.Logf("%s was gone %v after the deletions", what, time.Since(started).Round(time.Millisecond))
	}
}

// TestAdmissionPolicy holds that a rule of the cluster's administrator binds our
// kinds like any other.
func TestAdmissionPolicy(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	forbid(t, clients, namespace)
	large := newBackend("large")
	large.Spec.Replicas = ptr.To[int32](4)
	eventually(t, func() error {
		_, err := backends.Create(t.Context(), large, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("the policy is not in force")
		}
		if !apierrors.IsInvalid(err) {
			return err
		}
		return nil
	})
	small, err := backends.Create(t.Context(), newBackend("small"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	small.Spec.Replicas = ptr.To[int32](4)
	if _, err := backends.Update(t.Context(), small, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("an update got the error %v, want that the policy refuses it", err)
	}
}

// forbid makes a policy for one namespace: no backend of more than three replicas.
func forbid(t *testing.T, clients clients, namespace string) {
	t.Helper()
	admission := clients.AdmissionregistrationV1()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "small-backends.example.com"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{v1alpha1.GroupName}, APIVersions: []string{"*"}, Resources: []string{"cachebackends"},
					},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "!has(object.spec.replicas) || object.spec.replicas <= 3"}},
		},
	}
	if _, err := admission.ValidatingAdmissionPolicies().Create(t.Context(), policy, createOptions); err != nil {
		t.Fatal(err)
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: policy.ObjectMeta,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
			}},
		},
	}
	if _, err := admission.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, createOptions); err != nil {
		t.Fatal(err)
	}
}
