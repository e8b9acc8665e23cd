/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Limits of what is asked of the cluster about callers of the gRPC port. The rate is
// what the library takes for its own reviews: ten thousand engines that all come back
// at once are heard within two minutes.
const (
	clusterQPS     = 200
	clusterBurst   = 400
	clusterTimeout = 10 * time.Second
)

// Callers is what tells a server in a cluster who calls its gRPC port.
type Callers struct {
	// Tokens reviews tokens.
	Tokens authenticationclient.TokenReviewInterface
	// Pods reads the metadata of Pods.
	Pods metadata.Getter
	// Namespaces follows the namespaces. Whoever made it starts it.
	Namespaces coreinformers.NamespaceInformer
}

// NewCallers returns what asks the cluster: about tokens as the user of
// authentication, about Pods as that of core. The namespaces are those that the
// factory follows for admission already.
func NewCallers(authentication, core *rest.Config, factory informers.SharedInformerFactory) (*Callers, error) {
	reviews, err := authenticationclient.NewForConfig(patient(authentication))
	if err != nil {
		return nil, fmt.Errorf("make client for token reviews: %w", err)
	}
	objects, err := metadata.NewForConfig(patient(core))
	if err != nil {
		return nil, fmt.Errorf("make client for metadata of Pods: %w", err)
	}
	callers := &Callers{
		Tokens:     reviews.TokenReviews(),
		Pods:       objects.Resource(corev1.SchemeGroupVersion.WithResource("pods")),
		Namespaces: factory.Core().V1().Namespaces(),
	}
	// A lister alone does not make its informer run.
	callers.Namespaces.Informer()
	return callers, nil
}

// patient returns a configuration with the limits of this file.
func patient(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS, c.Burst, c.Timeout = clusterQPS, clusterBurst, clusterTimeout
	return c
}
