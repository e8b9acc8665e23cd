//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// TestInstallAndUninstall goes up and down in one cluster, each time another way
// down, and looks for what is left.
func TestInstallAndUninstall(t *testing.T) {
	rounds := []struct {
		name string
		down func(t *testing.T, r *round)
	}{
		{name: "plain", down: func(t *testing.T, _ *round) { mustScript(t, "uninstall.sh") }},
		{name: "finalizer holds", down: downWithFinalizer},
		{name: "interrupted", down: downInterrupted},
		{name: "server is dead", down: downDead},
		{name: "installed twice", down: func(t *testing.T, r *round) {
			mustScript(t, "install.sh", "--overlay", r.overlay)
			mustScript(t, "uninstall.sh")
		}},
	}
	for i, step := range rounds {
		if !t.Run(step.name, func(t *testing.T) {
			r := up(t, i)
			step.down(t, r)
			if left := leftovers(t); len(left) > 0 {
				t.Errorf("these are left:\n%s", strings.Join(left, "\n"))
			}
			mustScript(t, "uninstall.sh") // finds nothing, and says so
		}) {
			break // the next round would only stumble over this one
		}
	}
}

// round is a server that is installed, and some objects.
type round struct {
	kubelet *kubelet
	overlay string
	core    kubernetes.Interface
	ours    versioned.Interface
	backend *v1alpha1.CacheBackend
}

// up installs with a volume that is there already.
func up(t *testing.T, number int) *round {
	t.Helper()
	r := &round{}
	r.core, _ = clients(t)
	var err error
	if r.ours, err = versioned.NewForConfig(environment.cluster.Config()); err != nil {
		t.Fatal(err)
	}
	makeVolume(t, r.core, fmt.Sprintf("volume-%d", number))
	r.kubelet = startKubelet(t)
	r.overlay = overlay(t, r.kubelet.port())
	mustScript(t, "install.sh", "--overlay", r.overlay)
	r.fill(t)
	return r
}

// makeVolume stands for a storage class.
func makeVolume(t *testing.T, core kubernetes.Interface, name string) {
	t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/nowhere"}},
		},
	}
	if _, err := core.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := core.CoreV1().PersistentVolumes().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// fill makes objects, one of which owns an object of the cluster.
func (r *round) fill(t *testing.T) {
	t.Helper()
	for _, example := range []string{"cachebackend-events-only.yaml", "cachepolicy.yaml", "cachetenant.yaml"} {
		kubectl(t, "apply", "--server-side", "--namespace=default", "--filename="+filepath.Join(environment.artifacts, "examples", example))
	}
	backends, err := r.ours.InferencecacheV1alpha1().CacheBackends(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(backends.Items) == 0 {
		t.Fatalf("%d backends: %v", len(backends.Items), err)
	}
	r.backend = &backends.Items[0]
	_, err = r.core.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "owned", OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(r.backend, v1alpha1.SchemeGroupVersion.WithKind("CacheBackend")),
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// finalizers sets those of the backend.
func (r *round) finalizers(t *testing.T, list string) {
	t.Helper()
	_, err := r.ours.InferencecacheV1alpha1().CacheBackends(metav1.NamespaceDefault).Patch(t.Context(), r.backend.Name, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, list), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// downWithFinalizer has a finalizer that nobody works on at first.
func downWithFinalizer(t *testing.T, r *round) {
	r.finalizers(t, `["example.com/hold"]`)
	output, err := script(t, "uninstall.sh", "--timeout=3")
	if err == nil || !strings.Contains(output, "default/"+r.backend.Name) || !strings.Contains(output, "example.com/hold") {
		t.Fatalf("%v\n%s\nwant a failure that names the object and its finalizer", err, output)
	}
	kubectl(t, "get", "apiservice", registration)
	kubectl(t, "get", "statefulset", workload, "--namespace="+namespace)
	r.finalizers(t, "[]")
	mustScript(t, "uninstall.sh")
}

// downInterrupted kills the script when it takes the registration away.
func downInterrupted(t *testing.T, _ *round) {
	interrupt(t, registration, "uninstall.sh")
	if output := mustScript(t, "uninstall.sh"); !strings.Contains(output, "The objects were deleted or abandoned before") {
		t.Errorf("the second run does not know of the first:\n%s", output)
	}
}

// downDead has nobody who could delete the objects.
func downDead(t *testing.T, r *round) {
	if err := r.kubelet.kill(); err != nil {
		t.Fatal(err)
	}
	output, err := script(t, "uninstall.sh")
	if err == nil || !strings.Contains(output, "the server is out of reach") {
		t.Fatalf("%v\n%s\nwant a refusal", err, output)
	}
	kubectl(t, "get", "statefulset", workload, "--namespace="+namespace)
	mustScript(t, "uninstall.sh", "--abandon-objects")
	// As the script says, what the objects owned may stay.
	kubectl(t, "delete", "configmap", "owned", "--namespace=default", "--ignore-not-found")
}
