//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"errors"
	"flag"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/programs"
)

// environment is shared by all tests.
var environment *aggregated.Environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(aggregated.Run(func(e *aggregated.Environment) int {
		environment = e
		return m.Run()
	}, aggregated.Options{}, 0))
}

// clients are an administrator's.
type clients struct {
	kubernetes.Interface
	ours versioned.Interface
}

func newClients(t *testing.T) clients {
	t.Helper()
	config := environment.Cluster.Config()
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients{Interface: core, ours: ours}
}

// newNamespace makes a namespace. It is deleted when the test ends, which nobody
// waits for: the control plane goes soon after.
func (c clients) newNamespace(t *testing.T) string {
	t.Helper()
	namespace, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// eventually waits until a condition holds.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	if err := programs.Poll(t.Context(), try); err != nil {
		t.Fatal(err)
	}
}

// isGone is nil if an error says that an object is not there.
func isGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		return errStillThere
	}
	return err
}

var errStillThere = errors.New("it is still there")
