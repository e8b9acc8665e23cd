/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
)

// root is the folder that is under test.
var root = filepath.Join("..", "..", "artifacts")

// role is a Role, or a ClusterRole when it has no namespace.
type role struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Rules []rbacv1.PolicyRule `json:"rules"`
}

// roles reads the roles of a file of the base, by namespace and name.
func roles(t *testing.T, file string) map[string]role {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "base", file))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]role{}
	for _, document := range documents(t, content) {
		var r role
		if err := yaml.Unmarshal(document, &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if strings.HasSuffix(r.Kind, "Role") {
			found[r.Namespace+"/"+r.Name] = r
		}
	}
	return found
}

// documents splits a file of YAML.
func documents(t *testing.T, content []byte) [][]byte {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var all [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, document)
	}
}

// permissions takes rules apart, to compare what they allow and not how they are
// written. What is allowed twice is there twice.
func permissions(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{"*"}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						all = append(all, strings.Join([]string{verb, group, resource, name}, " "))
					}
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestServerRoles holds that the server has what it needs and nothing else.
func TestServerRoles(t *testing.T) {
	const name = "inference-cache-apiserver"
	rights := apiserver.ClusterRights()
	want, got := map[string][]string{}, map[string][]string{}
	for _, right := range rights {
		want[right.Namespace+"/"+name] = permissions(apiserver.Rules(right.Namespace, rights))
	}
	for key, role := range roles(t, "server-roles.yaml") {
		got[key] = permissions(role.Rules)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("artifacts/base/server-roles.yaml does not grant what apiserver.ClusterRights says, as verb, group, resource and name (-want +got):\n%s", diff)
	}
}

// TestUserRoles holds that each verb of each served resource is given to somebody,
// by one role, but for writing status; and nothing that is not served.
func TestUserRoles(t *testing.T) {
	server := apiservertest.Start(t)
	client, err := discovery.NewDiscoveryClientForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	var served []rbacv1.PolicyRule
	for _, r := range list.APIResources {
		verbs := sets.New(r.Verbs...)
		if strings.HasSuffix(r.Name, "/status") {
			verbs = verbs.Intersection(sets.New("get"))
		}
		served = append(served, rbacv1.PolicyRule{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{r.Name}, Verbs: sets.List(verbs)})
	}
	var granted []rbacv1.PolicyRule
	found := roles(t, "user-roles.yaml")
	for _, role := range found {
		granted = append(granted, role.Rules...)
	}
	if diff := cmp.Diff(permissions(served), permissions(granted)); diff != "" {
		t.Errorf("artifacts/base/user-roles.yaml and what is served differ (-served +granted):\n%s", diff)
	}
	reading := sets.New("get", "list", "watch")
	for _, rule := range found["/inference-cache-view"].Rules {
		if !reading.HasAll(rule.Verbs...) {
			t.Errorf("the role of readers has a rule that writes: %v", rule)
		}
	}
}

// TestAggregatedRoles holds which of the cluster's own roles ours are added to.
func TestAggregatedRoles(t *testing.T) {
	const prefix = "rbac.authorization.k8s.io/aggregate-to-"
	want := map[string]map[string]string{
		"/inference-cache-view": {prefix + "view": "true"},
		"/inference-cache-edit": {prefix + "edit": "true", prefix + "admin": "true"},
	}
	got := map[string]map[string]string{}
	for key, role := range roles(t, "user-roles.yaml") {
		got[key] = role.Labels
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong labels (-want +got):\n%s", diff)
	}
}
