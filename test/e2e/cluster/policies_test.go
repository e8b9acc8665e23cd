//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"errors"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestAdmissionPolicy holds that rules of the cluster's administrator bind our kinds
// like any other: each of them when it is created, virtual ones too, and what
// changes later, also by the subresource that autoscalers write.
func TestAdmissionPolicy(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	kinds := clients.ours.InferencecacheV1alpha1()
	backends := kinds.CacheBackends(namespace)
	for _, name := range []string{"shrinks", "grows"} {
		if _, err := backends.Create(t.Context(), newBackend(name), createOptions); err != nil {
			t.Fatal(err)
		}
	}
	clients.forbid(t, namespace, "large", "!has(object.spec.replicas) || object.spec.replicas <= 3", "cachebackends", "cachebackends/scale")
	clients.forbid(t, namespace, "named", "object.metadata.?name.orValue('') != 'forbidden'", "cachepolicies", "cachetenants")
	clients.forbid(t, namespace, "modelled", "object.spec.modelID != 'forbidden'", "routelookups")

	forbidden := metav1.ObjectMeta{Name: "forbidden"}
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	tests := map[string]func(context.Context) error{
		"a backend that is created": func(ctx context.Context) error {
			large := newBackend("large")
			large.Spec.Replicas = ptr.To[int32](4)
			_, err := backends.Create(ctx, large, dryRun)
			return err
		},
		"a backend that is updated": func(ctx context.Context) error {
			return retry.RetryOnConflict(retry.DefaultRetry, func() error {
				backend, err := backends.Get(ctx, "grows", getOptions)
				if err != nil {
					return err
				}
				backend.Spec.Replicas = ptr.To[int32](4)
				_, err = backends.Update(ctx, backend, metav1.UpdateOptions{DryRun: dryRun.DryRun})
				return err
			})
		},
		"a backend that is scaled": func(ctx context.Context) error {
			scale, err := backends.GetScale(ctx, "grows", getOptions)
			if err != nil {
				return err
			}
			scale.Spec.Replicas = 4
			_, err = backends.UpdateScale(ctx, "grows", scale, metav1.UpdateOptions{DryRun: dryRun.DryRun})
			return err
		},
		"a policy": func(ctx context.Context) error {
			_, err := kinds.CachePolicies(namespace).Create(ctx, &v1alpha1.CachePolicy{ObjectMeta: forbidden}, dryRun)
			return err
		},
		"a tenant": func(ctx context.Context) error {
			tenant := &v1alpha1.CacheTenant{ObjectMeta: forbidden, Spec: v1alpha1.CacheTenantSpec{TenantID: "forbidden"}}
			_, err := kinds.CacheTenants(namespace).Create(ctx, tenant, dryRun)
			return err
		},
		"a lookup": func(ctx context.Context) error {
			lookup := &v1alpha1.RouteLookup{Spec: v1alpha1.RouteLookupSpec{ModelID: "forbidden", TokenIDs: []int64{1}}}
			_, err := kinds.RouteLookups(namespace).Create(ctx, lookup, createOptions)
			return err
		},
	}
	for name, try := range tests {
		t.Run(name, func(t *testing.T) {
			// A policy is in force a moment after it is made.
			eventually(t, func() error {
				err := try(t.Context())
				if err == nil {
					return errors.New("the policy is not in force")
				}
				if !apierrors.IsInvalid(err) {
					return err
				}
				return nil
			})
		})
	}
	small, err := backends.Get(t.Context(), "shrinks", getOptions)
	if err != nil {
		t.Fatal(err)
	}
	small.Spec.Replicas = ptr.To[int32](2)
	if _, err := backends.Update(t.Context(), small, metav1.UpdateOptions{}); err != nil {
		t.Errorf("what the policy allows got the error %v", err)
	}
}

// forbid makes a policy for resources of ours in one namespace: the expression has to
// hold.
func (c clients) forbid(t *testing.T, namespace, name, expression string, resources ...string) {
	t.Helper()
	admission := c.AdmissionregistrationV1()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name + ".example.com"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{v1alpha1.GroupName}, APIVersions: []string{"*"}, Resources: resources,
					},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: expression}},
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
