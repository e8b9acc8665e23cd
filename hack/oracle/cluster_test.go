/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package oracle

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/core/pod"
)

// refusals returns what a cluster says against a workload with this template and
// against a Pod that the workload makes of it.
func refusals(t *testing.T, template corev1.PodTemplateSpec) field.ErrorList {
	t.Helper()
	template = *template.DeepCopy()
	template.Labels = map[string]string{"app": "store"}
	errs := refusedDeployment(t, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "store", Namespace: "ns"},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	})
	made := template.DeepCopy()
	made.Labels["pod-template-hash"] = "0123456789"
	return append(errs, refusedPod(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "store-0", Namespace: "ns", Labels: made.Labels}, Spec: made.Spec,
	})...)
}

func refusedDeployment(t *testing.T, served *appsv1.Deployment) field.ErrorList {
	t.Helper()
	served = served.DeepCopy()
	legacyscheme.Scheme.Default(served)
	judged := &apps.Deployment{}
	if err := legacyscheme.Scheme.Convert(served, judged, nil); err != nil {
		t.Fatal(err)
	}
	deployment.Strategy.PrepareForCreate(t.Context(), judged)
	return deployment.Strategy.Validate(t.Context(), judged)
}

func refusedPod(t *testing.T, served *corev1.Pod) field.ErrorList {
	t.Helper()
	legacyscheme.Scheme.Default(served)
	judged := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(served, judged, nil); err != nil {
		t.Fatal(err)
	}
	pod.Strategy.PrepareForCreate(t.Context(), judged)
	return pod.Strategy.Validate(t.Context(), judged)
}
