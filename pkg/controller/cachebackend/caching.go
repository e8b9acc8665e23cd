/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// CacheOptions say what of the cluster is watched and kept. Of Pods and Deployments
// all are, but only what is read of them; of other kinds that we make, those that
// say they are ours; Secrets never.
func CacheOptions() cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{workload.LabelManagedBy: workload.ManagedByValue})}
	return cache.Options{
		// Who reads a kind that is not watched means to ask the cluster and says so.
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                            {Transform: stripPod},
			&appsv1.Deployment{}:                     {Transform: stripDeployment},
			&v1alpha1.CacheIndex{}:                   {Transform: stripIndex},
			&appsv1.StatefulSet{}:                    ours,
			&corev1.Service{}:                        ours,
			&autoscalingv2.HorizontalPodAutoscaler{}: ours,
			&policyv1.PodDisruptionBudget{}:          ours,
			&networkingv1.NetworkPolicy{}:            ours,
		},
	}
}

// ClientOptions name the kinds that are asked for by name and not watched.
func ClientOptions() client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor: []client.Object{&corev1.Secret{}, &appsv1.ReplicaSet{}, &appsv1.DaemonSet{}},
	}}
}

// ownedLists returns an empty list of every watched kind that a backend may own.
func ownedLists() []client.ObjectList {
	return []client.ObjectList{
		&appsv1.DeploymentList{}, &appsv1.StatefulSetList{}, &corev1.ServiceList{},
		&autoscalingv2.HorizontalPodAutoscalerList{}, &policyv1.PodDisruptionBudgetList{}, &networkingv1.NetworkPolicyList{},
	}
}

// ownedKinds returns an object of every kind of ownedLists.
func ownedKinds() []client.Object {
	return []client.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{},
		&autoscalingv2.HorizontalPodAutoscaler{}, &policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{},
	}
}
