/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// service is where clients find the store. One on its node's network is behind a
// headless Service, whose name is the node's address: clients dial ports that no
// Service could name.
func service(backend *v1alpha1.CacheBackend, server Server) *corev1.Service {
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Service"},
		ObjectMeta: objectMeta(backend, backend.Name),
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, Selector: Selector(backend)},
	}
	if server.store().HostNetwork {
		s.Spec.ClusterIP = corev1.ClusterIPNone
	}
	for _, port := range server.Ports {
		if !port.Private {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{
				Name: port.Name, Port: port.Number, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString(port.Name),
			})
		}
	}
	return s
}

// Host returns the name under which a backend's store is found, in every cluster
// whatever its domain: the resolver of a Pod completes it.
func Host(backend *v1alpha1.CacheBackend) string {
	return backend.Name + "." + backend.Namespace + ".svc"
}

// Endpoint returns host and port of a backend's store at a port.
func Endpoint(backend *v1alpha1.CacheBackend, port int32) string {
	return net.JoinHostPort(Host(backend), strconv.Itoa(int(port)))
}

// Endpoint returns host and first port of the Service.
func (o Objects) Endpoint() string {
	return net.JoinHostPort(o.Service.Name+"."+o.Service.Namespace+".svc", strconv.Itoa(int(o.Service.Spec.Ports[0].Port)))
}
