/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// installed are the settings of the default installation.
func installed() Settings {
	return Settings{
		SubscriberImage: "kvevent-subscriber:latest",
		IndexServer:     "inference-cache-index.inference-cache-system.svc:9090",
		CAConfigMap:     "inference-cache-ca",
		NativeSidecars:  true,
	}
}

// decode reads an object of one YAML document into a value.
func decode(t testing.TB, data []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Fatal(err)
	}
}

// backends returns the backends of the examples and of testdata, by file name.
func backends(t testing.TB) map[string]*v1alpha1.CacheBackend {
	t.Helper()
	read := map[string]*v1alpha1.CacheBackend{}
	for _, folder := range []string{filepath.Join("..", "..", "..", "artifacts", "examples"), filepath.Join("testdata", "backends")} {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(data, []byte("kind: CacheBackend\n")) {
				continue
			}
			backend := &v1alpha1.CacheBackend{}
			decode(t, data, backend)
			v1alpha1.SetObjectDefaults_CacheBackend(backend)
			backend.Namespace, backend.UID = "team-a", "5d6fca1e-0000-4000-8000-000000000001"
			read[strings.TrimSuffix(filepath.Base(file), ".yaml")] = backend
		}
	}
	if len(read) < 10 {
		t.Fatalf("only %d backends", len(read))
	}
	return read
}

// enginePod returns the Pod of testdata for a backend's runtime, which the backend
// selects.
func enginePod(t testing.TB, backend *v1alpha1.CacheBackend) *corev1.Pod {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "pods", string(backend.Spec.Runtime)+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	decode(t, data, pod)
	pod.Labels = backend.Spec.EngineSelector.MatchLabels
	return pod
}

// creation is the question of a cluster about a Pod.
func creation(t testing.TB, pod *corev1.Pod) admissionv1.AdmissionRequest {
	t.Helper()
	raw, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return admissionv1.AdmissionRequest{
		UID: "1", Namespace: pod.Namespace, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
	}
}

// applied applies an answer's patch as the cluster does.
func applied(t testing.TB, raw []byte, response admission.Response) []byte {
	t.Helper()
	if len(response.Patches) == 0 {
		return raw
	}
	encoded, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := operations.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	return patched
}
