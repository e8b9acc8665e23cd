/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"encoding/json"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
)

// TestFirstApplySetsMinReplicas creates one backend in each way in which an object
// can come to be. All of them take the floor of the autoscaler from replicas, once.
func TestFirstApplySetsMinReplicas(t *testing.T) {
	server := apiservertest.Start(t)
	client := clientset(t, server.Config).InferencecacheV1alpha1()
	ways := map[string]func(name string, body []byte) error{
		"post": func(_ string, body []byte) error {
			return client.RESTClient().Post().Namespace("default").Resource("cachebackends").Body(body).Do(t.Context()).Error()
		},
		"put": func(name string, body []byte) error {
			return client.RESTClient().Put().Namespace("default").Resource("cachebackends").Name(name).Body(body).Do(t.Context()).Error()
		},
		"apply": func(name string, body []byte) error {
			return client.RESTClient().Patch(types.ApplyPatchType).Namespace("default").Resource("cachebackends").Name(name).
				Param("fieldManager", "test").Body(body).Do(t.Context()).Error()
		},
	}
	for name, create := range ways {
		t.Run(name, func(t *testing.T) {
			body, err := json.Marshal(map[string]any{
				"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "CacheBackend",
				"metadata": map[string]any{"name": name},
				"spec": map[string]any{
					"runtime": "VLLM", "replicas": 3,
					"remoteStorage": map[string]any{"provider": "LMCacheServer", "ownership": "Managed"},
					"autoscaling":   map[string]any{"maxReplicas": 5},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := create(name, body); err != nil {
				t.Fatal(apierrors.ReasonForError(err), err)
			}
			patch := []byte(`{"spec":{"replicas":2}}`)
			got, err := client.CacheBackends("default").Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if floor := got.Spec.Autoscaling.MinReplicas; floor == nil || *floor != 3 {
				t.Errorf("minReplicas = %v after replicas went to 2, want 3 from the first apply", floor)
			}
		})
	}
}
