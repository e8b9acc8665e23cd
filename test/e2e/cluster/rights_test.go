//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

var update = flag.Bool("update", false, "write testdata/rights.txt anew; read the diff")

// rightsTable says who may do what: what the shipped roles come to.
const rightsTable = "testdata/rights.txt"

// verbs are all that a role can grant on an object.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// person is a user and the role that they have, in a namespace or everywhere.
type person struct {
	user, role string
	everywhere bool
}

// people have one role each; somebody else's role is not theirs.
func people() []person {
	all := []person{{user: "nobody"}}
	for _, role := range []string{"view", "edit", "admin"} {
		all = append(all, person{user: role + "-here", role: role}, person{user: role + "-everywhere", role: role, everywhere: true})
	}
	return all
}

// bind gives people their roles.
func bind(t *testing.T, clients clients, namespace string) {
	t.Helper()
	for _, p := range people() {
		if p.role == "" {
			continue
		}
		subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: p.user}}
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: p.role}
		var err error
		if p.everywhere {
			_, err = clients.RbacV1().ClusterRoleBindings().Create(t.Context(),
				&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: p.user}, RoleRef: ref, Subjects: subjects}, createOptions)
		} else {
			_, err = clients.RbacV1().RoleBindings(namespace).Create(t.Context(),
				&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: p.user}, RoleRef: ref, Subjects: subjects}, createOptions)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRights asks the cluster about every resource and subresource that discovery
// has, every verb and everybody, and then tries each of it, so that what is allowed
// is what works.
func TestRights(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	bind(t, clients, namespace)
	list, err := clients.Discovery().ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	resources := list.APIResources
	slices.SortFunc(resources, func(a, b metav1.APIResource) int { return cmp.Compare(a.Name, b.Name) })
	want, err := os.ReadFile(rightsTable)
	if err != nil && !*update {
		t.Fatal(err)
	}
	// Roles are put together, and bindings seen, a moment after they are made.
	var got string
	eventually(t, func() error {
		if got, err = tabulate(t.Context(), clients, namespace, resources); err != nil {
			return err
		}
		if *update && !strings.Contains(got, "create") {
			return fmt.Errorf("nobody may create anything")
		}
		if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" && !*update {
			return fmt.Errorf("%s (-want +got):\n%s", rightsTable, diff)
		}
		return nil
	})
	if *update {
		if err := os.WriteFile(rightsTable, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range people() {
		t.Run(p.user, func(t *testing.T) { try(t, clients, p, namespace, resources) })
	}
}

// tabulate writes the table.
func tabulate(ctx context.Context, clients clients, namespace string, resources []metav1.APIResource) (string, error) {
	var table strings.Builder
	for _, resource := range resources {
		fmt.Fprintln(&table, resource.Name)
		for _, p := range people() {
			var may []string
			for _, verb := range verbs {
				ok, err := allowed(ctx, clients, p, namespace, resource, verb)
				if err != nil {
					return "", err
				}
				if ok {
					may = append(may, verb)
				}
			}
			fmt.Fprintf(&table, "  %-16s %s\n", p.user, cmp.Or(strings.Join(may, " "), "-"))
		}
	}
	return table.String(), nil
}

// allowed asks the cluster.
func allowed(ctx context.Context, clients clients, p person, namespace string, resource metav1.APIResource, verb string) (bool, error) {
	name, subresource, _ := strings.Cut(resource.Name, "/")
	attributes := &authorizationv1.ResourceAttributes{
		Verb: verb, Group: v1alpha1.GroupName, Version: v1alpha1.SchemeGroupVersion.Version, Resource: name, Subresource: subresource,
	}
	if resource.Namespaced {
		attributes.Namespace = namespace
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: p.user, Groups: []string{"system:authenticated"}, ResourceAttributes: attributes,
	}}
	answer, err := clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, createOptions)
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}

// try makes the requests of a person. What is allowed may fail, as nothing is there
// and nothing is sent, but is not forbidden.
func try(t *testing.T, clients clients, p person, namespace string, resources []metav1.APIResource) {
	t.Helper()
	config, err := environment.Cluster.ConfigFor(p.user)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	for _, resource := range resources {
		for _, verb := range verbs {
			if collective(verb) && strings.Contains(resource.Name, "/") {
				continue // no request means this
			}
			want, err := allowed(t.Context(), clients, p, namespace, resource, verb)
			if err != nil {
				t.Fatal(err)
			}
			code, body, err := attempt(t.Context(), client, config.Host, namespace, resource, verb)
			if err != nil {
				t.Fatalf("%s %s: %v", verb, resource.Name, err)
			}
			if got := code != http.StatusForbidden; got != want || code >= http.StatusInternalServerError {
				t.Errorf("%s %s: allowed is %t, and a request got %d %s", verb, resource.Name, want, code, body)
			}
		}
	}
}

// methods are what verbs are in HTTP.
var methods = map[string]string{
	"create": http.MethodPost, "update": http.MethodPut, "patch": http.MethodPatch,
	"delete": http.MethodDelete, "deletecollection": http.MethodDelete,
}

// collective verbs are those for all objects of a resource.
func collective(verb string) bool {
	return slices.Contains([]string{"list", "watch", "deletecollection"}, verb)
}

// attempt makes a request that changes nothing.
func attempt(ctx context.Context, client *http.Client, host, namespace string, resource metav1.APIResource, verb string) (int, string, error) {
	name, subresource, _ := strings.Cut(resource.Name, "/")
	path := "/apis/" + v1alpha1.SchemeGroupVersion.String()
	if resource.Namespaced {
		path += "/namespaces/" + namespace
	}
	path += "/" + name
	if subresource != "" {
		path += "/none/" + subresource
	} else if !collective(verb) && verb != "create" {
		path += "/none"
	}
	path += "?dryRun=All"
	if verb == "watch" {
		path += "&watch=true&timeoutSeconds=1"
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, cmp.Or(methods[verb], http.MethodGet), host+path, strings.NewReader("{}"))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if verb == "patch" {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	if verb == "watch" && response.StatusCode == http.StatusOK {
		return response.StatusCode, "", nil
	}
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}
