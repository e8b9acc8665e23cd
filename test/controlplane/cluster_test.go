//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/test/programs"
)

// TestCluster goes once through the life of a cluster: its parts share it,
// because a start costs seconds.
func TestCluster(t *testing.T) {
	directory, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "cluster")
	cluster, err := Start(t.Context(), Options{Programs: directory, Dir: dir, Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() }) // the test stops it itself unless it fails
	client := kubernetes.NewForConfigOrDie(cluster.Config())

	t.Run("a Deployment becomes Available", func(t *testing.T) { deploy(t, client) })
	t.Run("a deleted namespace goes", func(t *testing.T) { deleteNamespace(t, client) })
	t.Run("aggregated servers can trust the proxy", func(t *testing.T) { readTrust(t, client) })
	t.Run("an aggregated server is reached", func(t *testing.T) { aggregate(t, client) })
	t.Run("users have the rights of their groups", func(t *testing.T) { checkUsers(t, cluster) })
	t.Run("the kubeconfig is private and works", func(t *testing.T) { useKubeconfig(t, cluster.Kubeconfig()) })
	t.Run("nothing is left", func(t *testing.T) {
		processes := cluster.Processes()
		if len(processes) != 5 {
			t.Errorf("got %d processes, want 5: %v", len(processes), processes)
		}
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
		for _, process := range processes {
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", process.ID)); err == nil {
				t.Errorf("%s still runs as process %d", process.Name, process.ID)
			}
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", dir, err)
		}
	})
}

// eventually waits until a condition holds, and fails with the reason why not.
func eventually(t *testing.T, condition func(context.Context) error) {
	t.Helper()
	if err := programs.Poll(t.Context(), func() error { return condition(t.Context()) }); err != nil {
		t.Fatal(err)
	}
}

func deploy(t *testing.T, client kubernetes.Interface) {
	labels := map[string]string{"app": "hello"}
	deployments := client.AppsV1().Deployments(metav1.NamespaceDefault)
	_, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "hello"},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					InitContainers: []corev1.Container{{Name: "before", Image: "none"}},
					Containers:     []corev1.Container{{Name: "hello", Image: "none"}},
				},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		deployment, err := deployments.Get(ctx, "hello", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range deployment.Status.Conditions {
			if condition.Type == appsv1.DeploymentAvailable && condition.Status == corev1.ConditionTrue && deployment.Status.AvailableReplicas == 2 {
				return nil
			}
		}
		return fmt.Errorf("the Deployment is not available: %+v", deployment.Status)
	})
	pods, err := client.CoreV1().Pods(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{LabelSelector: "app=hello"})
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for i := range pods.Items {
		addresses[pods.Items[i].Status.PodIP] = true
	}
	if len(addresses) != 2 || addresses[""] {
		t.Errorf("two Pods have the addresses %v", addresses)
	}
}

func deleteNamespace(t *testing.T, client kubernetes.Interface) {
	const name = "short-lived"
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Kubernetes looks again after half of the time that Pods have to end.
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "hello"}, Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: ptr.To[int64](1),
		Containers:                    []corev1.Container{{Name: "hello", Image: "none"}},
	}}
	// The account of every Pod comes a moment after its namespace.
	eventually(t, func(ctx context.Context) error {
		_, err := client.CoreV1().Pods(name).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	eventually(t, func(ctx context.Context) error {
		got, err := client.CoreV1().Pods(name).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && got.Status.Phase != corev1.PodRunning {
			err = fmt.Errorf("the Pod is %s", got.Status.Phase)
		}
		return err
	})
	if err := client.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		namespace, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("the namespace is still there: %+v", namespace.Status))
	})
}

// readTrust looks for what an aggregated server reads to learn whom to believe.
func readTrust(t *testing.T, client kubernetes.Interface) {
	eventually(t, func(ctx context.Context) error {
		config, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, key := range []string{"client-ca-file", "requestheader-client-ca-file"} {
			if config.Data[key] == "" {
				return fmt.Errorf("the ConfigMap has no %s: %v", key, config.Data)
			}
		}
		if config.Data["client-ca-file"] == config.Data["requestheader-client-ca-file"] {
			return errors.New("every client could pass for the proxy: their authorities are one")
		}
		if got := config.Data["requestheader-allowed-names"]; got != `["front-proxy-client"]` {
			return fmt.Errorf("the proxy may be %s", got)
		}
		return nil
	})
}

func checkUsers(t *testing.T, cluster *Cluster) {
	tests := map[string]struct {
		groups []string
		want   func(error) bool
	}{
		"nobody":        {want: apierrors.IsForbidden},
		"administrator": {groups: []string{"system:masters"}, want: func(err error) bool { return err == nil }},
	}
	for name, test := range tests {
		config, err := cluster.ConfigFor(name, test.groups...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Secrets(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{}); !test.want(err) {
			t.Errorf("%s lists secrets: %v", name, err)
		}
	}
}

func useKubeconfig(t *testing.T, path string) {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the kubeconfig has mode %o", mode)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}
