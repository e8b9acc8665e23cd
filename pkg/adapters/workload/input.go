/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Input is what a store is rendered from.
type Input struct {
	// Backend declares the store. It is only read.
	Backend *v1alpha1.CacheBackend
	// LiveReplicas is spec.replicas of the workload as it is now, nil when there is
	// none. Only a backend with autoscaling takes it up: the autoscaler's choice
	// stands unless it lies below the floor.
	LiveReplicas *int32
	// Password is the password of the store: what its Secret holds, or one from
	// NewPassword when there is no such Secret. Only a store that generates one
	// needs it.
	Password string
	// ManagerNamespace is the namespace of the manager, whose probes are let through
	// to the store. Empty lets no other namespace through.
	ManagerNamespace string
}

// Objects are what runs a store. An object that the store does not have is nil;
// one that exists from an earlier render is then to be removed. Exactly one of
// Deployment and StatefulSet is set.
type Objects struct {
	Deployment    *appsv1.Deployment
	StatefulSet   *appsv1.StatefulSet
	Service       *corev1.Service
	HPA           *autoscalingv2.HorizontalPodAutoscaler
	PDB           *policyv1.PodDisruptionBudget
	NetworkPolicy *networkingv1.NetworkPolicy
	// Secret holds the password of a store that generates one.
	Secret *corev1.Secret
}

// Object is any of Objects. Its TypeMeta is set.
type Object interface {
	metav1.Object
	runtime.Object
}

// List returns the objects that are set, in an order in which they can be applied:
// what a Pod refers to stands before what makes Pods.
func (o Objects) List() []Object {
	var list []Object
	if o.Secret != nil {
		list = append(list, o.Secret)
	}
	if o.NetworkPolicy != nil {
		list = append(list, o.NetworkPolicy)
	}
	if o.Service != nil {
		list = append(list, o.Service)
	}
	if o.Deployment != nil {
		list = append(list, o.Deployment)
	}
	if o.StatefulSet != nil {
		list = append(list, o.StatefulSet)
	}
	if o.HPA != nil {
		list = append(list, o.HPA)
	}
	if o.PDB != nil {
		list = append(list, o.PDB)
	}
	return list
}

// Storage returns the remote storage of a backend whose store is to be rendered by
// provider. It is an error if there is none, if somebody else runs it, or if it is
// of another provider.
func (in Input) Storage(provider v1alpha1.StorageProvider) (*v1alpha1.RemoteStorage, error) {
	switch {
	case in.Backend == nil:
		return nil, errors.New("no backend to render")
	case in.Backend.UID == "":
		return nil, fmt.Errorf("backend %s/%s has no UID that could own anything", in.Backend.Namespace, in.Backend.Name)
	}
	storage := in.Backend.Spec.RemoteStorage
	switch {
	case storage == nil:
		return nil, fmt.Errorf("backend %s/%s has no remote storage", in.Backend.Namespace, in.Backend.Name)
	case storage.Ownership != v1alpha1.StorageOwnershipManaged:
		return nil, fmt.Errorf("remote storage of backend %s/%s is %s, not managed", in.Backend.Namespace, in.Backend.Name, storage.Ownership)
	case storage.Provider != provider:
		return nil, fmt.Errorf("remote storage of backend %s/%s is a %s, not a %s", in.Backend.Namespace, in.Backend.Name, storage.Provider, provider)
	}
	return storage, nil
}
