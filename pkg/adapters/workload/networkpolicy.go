/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// ManagerName is the value of LabelName on the manager's Pods.
const ManagerName = "inference-cache-manager"

// networkPolicy lets the engines of a backend and the manager's probes through to
// its store, and the store out only where it has somewhere to go. Policies add up:
// whoever else is to reach the store gets a policy that says so. A store on its
// node's network has none, because policies do not reach there.
func networkPolicy(in Input, server Server) *networkingv1.NetworkPolicy {
	if server.store().HostNetwork {
		return nil
	}
	ingress := networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{engines(in.Backend)}}
	if in.ManagerNamespace != "" {
		ingress.From = append(ingress.From, networkingv1.NetworkPolicyPeer{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: in.ManagerNamespace}},
			PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{LabelName: ManagerName}},
		})
	}
	for _, port := range server.Ports {
		ingress.Ports = append(ingress.Ports, networkingv1.NetworkPolicyPort{
			Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromString(port.Name)),
		})
	}
	policy := &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: objectMeta(in.Backend, in.Backend.Name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: Selector(in.Backend)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{ingress},
		},
	}
	if !server.Egress {
		policy.Spec.PolicyTypes = append(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
	}
	return policy
}

// engines are the engines that a backend selects. Without a selector it claims
// none, and engines that were wired by hand may be any Pod of the namespace.
func engines(backend *v1alpha1.CacheBackend) networkingv1.NetworkPolicyPeer {
	selector := &metav1.LabelSelector{}
	if backend.Spec.EngineSelector != nil {
		selector.MatchLabels = maps.Clone(backend.Spec.EngineSelector.MatchLabels)
	}
	return networkingv1.NetworkPolicyPeer{PodSelector: selector}
}
