//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/test/aggregated"
)

// TestMetrics holds who may read the metrics, by the certificate of the manager's
// own authority.
func TestMetrics(t *testing.T) {
	c := newClients(t)
	for _, name := range []string{"scraper", "stranger"} {
		if _, err := c.CoreV1().ServiceAccounts(c.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "scraper-" + c.namespace},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	if _, err := c.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "scraper", Namespace: c.namespace}},
	}
	if _, err := c.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token := func(name string) string {
		token, err := environment.Installation.ServiceAccountToken(t.Context(), c.namespace, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	secret, err := c.CoreV1().Secrets(aggregated.Namespace).Get(t.Context(), "inference-cache-manager-ca", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	for _, content := range secret.Data {
		roots.AppendCertsFromPEM(content)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: "inference-cache-manager." + aggregated.Namespace + ".svc", MinVersion: tls.VersionTLS12,
	}}}
	t.Cleanup(client.CloseIdleConnections)
	tests := []struct {
		name, token string
		want        int
	}{
		{name: "nobody", want: http.StatusUnauthorized},
		{name: "a forger", token: "forged", want: http.StatusUnauthorized},
		{name: "a stranger", token: token("stranger"), want: http.StatusForbidden},
		{name: "a scraper", token: token("scraper"), want: http.StatusOK},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			// Roles take a moment to be known.
			eventually(t, func() error {
				status, body := get(t, client, "https://"+environment.manager.metrics+"/metrics", tc.token)
				if status != tc.want {
					return fmt.Errorf("got %d, want %d: %s", status, tc.want, body)
				}
				if status == http.StatusOK && !strings.Contains(body, "controller_runtime_reconcile_total") {
					return fmt.Errorf("no metrics in %s", body)
				}
				return nil
			})
		})
	}
}

func get(t *testing.T, client *http.Client, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}
