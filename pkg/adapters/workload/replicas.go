/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// DefaultTargetCPUUtilization is what autoscaling aims at when the backend does
// not say, in percent of the request.
const DefaultTargetCPUUtilization int32 = 80

// autoscaled says whether an autoscaler decides over the replicas.
func autoscaled(backend *v1alpha1.CacheBackend, server Server) bool {
	return backend.Spec.Autoscaling != nil && !server.singleton()
}

// replicas returns how many Pods the workload is to have. Under an autoscaler the
// number that it chose is repeated, since a number that is left out would fall
// back to 1; one below the floor is raised, because an autoscaler leaves a
// workload alone that was scaled to zero.
func replicas(in Input, server Server) int32 {
	if autoscaled(in.Backend, server) {
		floor := max(ptr.Deref(in.Backend.Spec.Autoscaling.MinReplicas, 1), 1)
		return max(ptr.Deref(in.LiveReplicas, floor), floor)
	}
	wanted := max(ptr.Deref(in.Backend.Spec.Replicas, 1), 0)
	if server.singleton() {
		return min(wanted, 1)
	}
	return wanted
}

// autoscaler scales the workload by the use of its CPU.
func autoscaler(backend *v1alpha1.CacheBackend, server Server) *autoscalingv2.HorizontalPodAutoscaler {
	if !autoscaled(backend, server) {
		return nil
	}
	scaling := backend.Spec.Autoscaling
	kind := v1alpha1.DeploymentKindDeployment
	if backend.Spec.DeploymentKind == v1alpha1.DeploymentKindStatefulSet {
		kind = v1alpha1.DeploymentKindStatefulSet
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: autoscalingv2.SchemeGroupVersion.String(), Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: objectMeta(backend, backend.Name),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: appsv1.SchemeGroupVersion.String(), Kind: string(kind), Name: backend.Name,
			},
			MinReplicas: ptr.To(max(ptr.Deref(scaling.MinReplicas, 1), 1)),
			MaxReplicas: scaling.MaxReplicas,
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name: corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{
						Type:               autoscalingv2.UtilizationMetricType,
						AverageUtilization: ptr.To(ptr.Deref(scaling.TargetCPUUtilizationPercent, DefaultTargetCPUUtilization)),
					},
				},
			}},
		},
	}
}

// disruptionBudget lets one Pod of several go at a time. A store that exists once
// has none: a budget could only hold up the drain of its node for ever. A Pod that
// is not ready holds nothing and may always go.
func disruptionBudget(backend *v1alpha1.CacheBackend, server Server) *policyv1.PodDisruptionBudget {
	most := replicas(Input{Backend: backend}, server)
	if autoscaled(backend, server) {
		most = backend.Spec.Autoscaling.MaxReplicas
	}
	if most < 2 {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
		ObjectMeta: objectMeta(backend, backend.Name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             ptr.To(intstr.FromInt32(1)),
			Selector:                   &metav1.LabelSelector{MatchLabels: Selector(backend)},
			UnhealthyPodEvictionPolicy: ptr.To(policyv1.AlwaysAllow),
		},
	}
}
