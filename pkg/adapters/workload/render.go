/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Render returns the objects that run a server for a backend. It fails where
// Input.Storage does, and where the server needs a password and none is given.
func Render(in Input, server Server) (Objects, error) {
	if _, err := in.Storage(server.Provider); err != nil {
		return Objects{}, err
	}
	if server.Password && in.Password == "" {
		return Objects{}, fmt.Errorf("the store of backend %s/%s generates a password, and none is given", in.Backend.Namespace, in.Backend.Name)
	}
	objects := Objects{
		Service:       service(in.Backend, server),
		HPA:           autoscaler(in.Backend, server),
		PDB:           disruptionBudget(in.Backend, server),
		NetworkPolicy: networkPolicy(in, server),
	}
	if server.Password {
		objects.Secret = passwordSecret(in)
	}
	if in.Backend.Spec.DeploymentKind == v1alpha1.DeploymentKindStatefulSet {
		objects.StatefulSet = statefulSet(in, server)
	} else {
		objects.Deployment = deployment(in, server)
	}
	return objects, nil
}

func deployment(in Input, server Server) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: objectMeta(in.Backend, in.Backend.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas(in, server)),
			Selector: &metav1.LabelSelector{MatchLabels: Selector(in.Backend)},
			Strategy: strategy(server),
			Template: podTemplate(in, server),
		},
	}
}

// strategy stops the old Pod of a store that exists once before it starts the new
// one: on the node's network the two could not both run, and behind one Service
// clients would be split between them. The parameters of a rolling update are
// written out, because as defaults they would stay when the strategy changes, and
// Recreate does not go with them.
func strategy(server Server) appsv1.DeploymentStrategy {
	if server.singleton() {
		return appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	return appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxUnavailable: ptr.To(intstr.FromString("25%")),
			MaxSurge:       ptr.To(intstr.FromString("25%")),
		},
	}
}

// statefulSet replaces each Pod only when it is gone, by its nature. Pods do not
// wait for each other, because each is a cache of its own; and a Pod that never
// gets ready would otherwise hold up the update that mends it.
func statefulSet(in Input, server Server) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet"},
		ObjectMeta: objectMeta(in.Backend, in.Backend.Name),
		Spec: appsv1.StatefulSetSpec{
			Replicas:            ptr.To(replicas(in, server)),
			Selector:            &metav1.LabelSelector{MatchLabels: Selector(in.Backend)},
			ServiceName:         in.Backend.Name,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			UpdateStrategy:      appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType},
			Template:            podTemplate(in, server),
		},
	}
}
