//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/test/conformance"
)

// TestConformance holds the group behind the aggregation layer against the rules
// that hold for a server without a cluster: discovery in both forms, OpenAPI, lists,
// watches, media types, apply and all the rest.
func TestConformance(t *testing.T) {
	t.Parallel()
	namespaces := newClients(t).CoreV1().Namespaces()
	conformance.Test(t, conformance.Server{
		Config: environment.Cluster.Config(),
		EnsureNamespace: func(ctx context.Context, name string) error {
			_, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		},
	})
}
