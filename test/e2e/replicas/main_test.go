//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package replicas

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/programs"
)

// shutdownDelay is how long a replica that was told to end goes on serving, so that
// what sends it requests learns of it. The manifests have more, for slower probes.
const shutdownDelay = "1s"

// tenant is the namespace of the engines, model what they serve.
const tenant, model = "team", "example/model"

// environment is shared by all tests.
var environment *aggregated.Environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(aggregated.Run(func(e *aggregated.Environment) int {
		environment = e
		return m.Run()
	}, aggregated.Options{
		Replicas: 2, Args: []string{"--shutdown-delay-duration=" + shutdownDelay},
	}, 0, programs.Subscriber))
}

func newClient(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// files are what clients of the gRPC port need: the servers' authority and the token
// of a router that may ask for the tenant.
type files struct{ dir string }

func (f files) authority() string { return filepath.Join(f.dir, "ca.crt") }
func (f files) router() string    { return f.token("router") }
func (f files) token(name string) string {
	return filepath.Join(f.dir, name+".token")
}

// prepare makes the tenant's namespace and the router's account.
func prepare(t *testing.T, client kubernetes.Interface) files {
	t.Helper()
	f := files{dir: t.TempDir()}
	i := environment.Installation
	bundle, err := i.TrustBundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.authority(), string(bundle))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "router"}}
	if _, err := client.CoreV1().ServiceAccounts(tenant).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "router"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "inference-cache-edit"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "router", Namespace: tenant}},
	}
	if _, err := client.RbacV1().RoleBindings(tenant).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := i.ServiceAccountToken(t.Context(), tenant, "router", nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.router(), token)
	return f
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
