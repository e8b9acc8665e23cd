/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachetenant"
)

// clusterNamespaces asks the cluster each time. The informer that admission uses
// is behind by as much as it takes to claim a namespace's name before it is known.
type clusterNamespaces struct {
	client typedcorev1.NamespacesGetter
}

// ClusterNamespaces returns what knows the namespaces of the cluster that config
// reaches. It needs the right to get namespaces.
func ClusterNamespaces(config *rest.Config) (cachetenant.Namespaces, error) {
	client, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client for namespaces: %w", err)
	}
	return clusterNamespaces{client: client}, nil
}

// NamespaceExists implements cachetenant.Namespaces. A namespace that is being
// deleted exists until it is gone.
func (n clusterNamespaces) NamespaceExists(ctx context.Context, name string) (bool, error) {
	_, err := n.client.Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
