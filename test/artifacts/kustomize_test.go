//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"inferencecache.io/inference-cache/test/programs"
)

// kustomizations are all that a user may apply, by the folder in artifacts.
var kustomizations = []string{
	"base", "apiservice", "manager", "monitoring", "overlays/ha", "overlays/cert-manager", "overlays/cert-manager/apiservice",
}

// workloads are those that run the server.
var workloads = []string{"base", "overlays/ha", "overlays/cert-manager"}

// foreign are the groups of kinds that have no Go types here. Other tests check them
// against their definitions.
var foreign = []string{"cert-manager.io", "monitoring.coreos.com"}

// build returns what kustomize makes of a folder, as kubectl has it built in.
func build(t *testing.T, folder string) []byte {
	t.Helper()
	kubectl, err := programs.Kubectl(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), kubectl, "kustomize", filepath.Join(root, folder))
	var failure bytes.Buffer
	cmd.Stderr = &failure
	output, err := cmd.Output()
	if err != nil || failure.Len() > 0 {
		t.Fatalf("kustomize %s: %v\n%s", folder, err, failure.String())
	}
	return output
}

// objects reads what kustomize makes of a folder. An unknown or doubled field of a
// kind with Go types is an error.
func objects(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var all []runtime.Object
	for _, document := range documents(t, build(t, folder)) {
		var err error
		var object runtime.Object
		if slices.ContainsFunc(foreign, func(group string) bool { return bytes.Contains(document, []byte("apiVersion: "+group+"/")) }) {
			content := map[string]any{}
			err = utilyaml.UnmarshalStrict(document, &content)
			object = &unstructured.Unstructured{Object: content}
		} else {
			object, _, err = decoder.Decode(document, nil, nil)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", folder, err, document)
		}
		all = append(all, object)
	}
	return all
}

// pick returns the one object of a type.
func pick[T runtime.Object](t *testing.T, all []runtime.Object) T {
	t.Helper()
	var found []T
	for _, object := range all {
		if o, ok := object.(T); ok {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, want one", len(found), *new(T))
	}
	return found[0]
}

// key names an object as kubectl does.
func key(t *testing.T, object runtime.Object) string {
	t.Helper()
	accessor, err := meta.Accessor(object)
	if err != nil {
		t.Fatal(err)
	}
	kind := strings.ToLower(object.GetObjectKind().GroupVersionKind().Kind)
	if accessor.GetNamespace() == "" {
		return kind + "/" + accessor.GetName()
	}
	return fmt.Sprintf("%s/%s in %s", kind, accessor.GetName(), accessor.GetNamespace())
}

// container returns the only one of a Pod.
func container(t *testing.T, pod *corev1.PodSpec) *corev1.Container {
	t.Helper()
	if len(pod.Containers) != 1 || len(pod.InitContainers) > 0 {
		t.Fatalf("the Pod has %d containers and %d before them, want one", len(pod.Containers), len(pod.InitContainers))
	}
	return &pod.Containers[0]
}
