/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestAdd puts the controllers into a manager that never runs: they fit, and they fit
// once.
func TestAdd(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1:0"}, manager.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return testrestmapper.TestOnlyStaticRESTMapper(scheme), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := Add(mgr, 1); err != nil {
		t.Fatalf("Add: %v", err)
	}
	if err := Add(mgr, 1); err == nil {
		t.Error("the controllers were added twice")
	}
}
