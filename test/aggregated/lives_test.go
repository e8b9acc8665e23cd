//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated_test

import (
	"flag"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/test/aggregated"
)

// environment is shared by all tests of this package.
var environment *aggregated.Environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(aggregated.Run(func(e *aggregated.Environment) int {
		environment = e
		return m.Run()
	}, aggregated.Options{Replicas: 2, GivenCertificate: true}, 0))
}

// TestLives ends replicas in both ways and starts them again; the cluster follows.
func TestLives(t *testing.T) {
	ctx := t.Context()
	i := environment.Installation
	for name, test := range map[string]struct {
		replica int
		end     func(*aggregated.Replica) error
	}{
		"stopped": {replica: 0, end: func(r *aggregated.Replica) error { return r.Stop(ctx) }},
		"killed":  {replica: 1, end: (*aggregated.Replica).Kill},
	} {
		t.Run(name, func(t *testing.T) {
			r := i.Replicas()[test.replica]
			if err := test.end(r); err != nil {
				t.Fatal(err)
			}
			if err := test.end(r); err == nil {
				t.Error("it ended twice")
			}
			if err := r.Start(ctx); err != nil {
				t.Fatal(err)
			}
			if err := r.Start(ctx); err == nil {
				t.Error("it runs twice")
			}
		})
	}
	if err := i.Await(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestGivenCertificate holds that a server with a certificate of somebody else makes
// no authority beside it. Package cluster has servers that make their own.
func TestGivenCertificate(t *testing.T) {
	client, err := kubernetes.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets(aggregated.Namespace).Get(t.Context(), "inference-cache-ca", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("got the error %v, want that there is no authority", err)
	}
	service, err := environment.Installation.GetAPIService(t.Context())
	if err != nil || len(service.OwnerReferences) > 0 {
		t.Errorf("the APIService belongs to %v, %v, want nobody", service.OwnerReferences, err)
	}
}
