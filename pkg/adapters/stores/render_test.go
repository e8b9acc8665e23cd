/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

var update = flag.Bool("update", false, "write the rendered objects in testdata anew; read the diff")

// TestRender holds what every backend in testdata/render is rendered as. Each
// <name>.yaml has its objects beside it in <name>.objects.yaml.
func TestRender(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "render", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	variants := 0
	for _, file := range files {
		name, backend := strings.CutSuffix(filepath.Base(file), ".yaml")
		if !backend || strings.HasSuffix(name, ".objects") {
			continue
		}
		variants++
		t.Run(name, func(t *testing.T) {
			got := manifest(t, render(t, read(t, file)))
			golden := strings.TrimSuffix(file, ".yaml") + ".objects.yaml"
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("objects (-want +got), written anew by go test -update:\n%s", diff)
			}
		})
	}
	if variants == 0 {
		t.Error("no backend in testdata/render")
	}
}

// read returns the backend in a file, with the defaults of the API.
func read(t *testing.T, file string) *v1alpha1.CacheBackend {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	backend := &v1alpha1.CacheBackend{}
	if err := yaml.UnmarshalStrict(data, backend); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	v1alpha1.SetObjectDefaults_CacheBackend(backend)
	return backend
}

// render renders a backend as the manager of the default installation would, and
// holds that the backend is left as it was.
func render(t *testing.T, backend *v1alpha1.CacheBackend) workload.Objects {
	t.Helper()
	store, known := stores.Of(backend.Spec.RemoteStorage.Provider)
	if !known {
		t.Fatalf("no store of provider %s", backend.Spec.RemoteStorage.Provider)
	}
	before := backend.DeepCopy()
	objects, err := store.Render(workload.Input{Backend: backend, Password: "golden-password", ManagerNamespace: "inference-cache-system"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, backend); diff != "" {
		t.Errorf("rendering changed the backend (-before +after):\n%s", diff)
	}
	return objects
}

// manifest writes objects as documents of one file.
func manifest(t *testing.T, objects workload.Objects) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, object := range objects.List() {
		fields, err := workload.Fields(object)
		if err != nil {
			t.Fatal(err)
		}
		document, err := yaml.Marshal(fields.Object)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(document)
	}
	return out.Bytes()
}
