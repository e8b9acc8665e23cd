/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// testDiscoveryForms compares what the server says of itself in the aggregated
// form with the older one, in which every version is a document of its own.
// Tools that see a resource in one form only delete namespaces half.
func testDiscoveryForms(t *testing.T, s *suite) {
	code, _, body := s.get(t, "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	if code != http.StatusOK {
		t.Fatalf("aggregated discovery: %d %s", code, body)
	}
	var aggregated apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &aggregated); err != nil {
		t.Fatal(err)
	}
	var fromAggregated []metav1.APIResource
	for _, group := range aggregated.Items {
		if group.Name != v1alpha1.GroupName {
			continue
		}
		for _, version := range group.Versions {
			if version.Version != v1alpha1.SchemeGroupVersion.Version {
				t.Errorf("version %s is served and not tested", version.Version)
			}
			for _, resource := range version.Resources {
				fromAggregated = append(fromAggregated, flatten(resource)...)
			}
		}
	}
	old := slices.Clone(s.resources)
	for i := range old {
		// The aggregated form has no such field.
		old[i].StorageVersionHash = ""
		// An empty group and version mean those of the document. The client
		// fills them in for the older form only.
		if old[i].Group == v1alpha1.GroupName {
			old[i].Group, old[i].Version = "", ""
		}
	}
	for _, list := range [][]metav1.APIResource{old, fromAggregated} {
		slices.SortFunc(list, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	}
	if diff := cmp.Diff(old, fromAggregated); diff != "" {
		t.Errorf("resources (-version document +aggregated):\n%s", diff)
	}
}

// flatten turns the aggregated form of a resource into the older one.
func flatten(resource apidiscoveryv2.APIResourceDiscovery) []metav1.APIResource {
	list := []metav1.APIResource{{
		Name:         resource.Resource,
		SingularName: resource.SingularResource,
		Namespaced:   resource.Scope == apidiscoveryv2.ScopeNamespace,
		Group:        resource.ResponseKind.Group,
		Version:      resource.ResponseKind.Version,
		Kind:         resource.ResponseKind.Kind,
		Verbs:        resource.Verbs,
		ShortNames:   resource.ShortNames,
		Categories:   resource.Categories,
	}}
	for _, sub := range resource.Subresources {
		list = append(list, metav1.APIResource{
			Name:       resource.Resource + "/" + sub.Subresource,
			Namespaced: resource.Scope == apidiscoveryv2.ScopeNamespace,
			Group:      sub.ResponseKind.Group,
			Version:    sub.ResponseKind.Version,
			Kind:       sub.ResponseKind.Kind,
			Verbs:      sub.Verbs,
		})
	}
	return list
}

// pathRecorder answers no request and keeps its path.
type pathRecorder struct{ path string }

var errRecorded = errors.New("recorded")

// RoundTrip implements http.RoundTripper.
func (r *pathRecorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.path = request.URL.Path
	return nil, errRecorded
}

// testClientPaths calls every typed client that was generated and compares where
// it would go with what is served. The generator guesses plurals, and a wrong
// guess is a 404 at run time.
func testClientPaths(t *testing.T, s *suite) {
	served := map[string]bool{}
	for _, resource := range s.with(t) {
		path := "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/"
		if resource.Namespaced {
			path += "namespaces/ns/"
		}
		served[path+resource.Name] = false
	}
	recorder := &pathRecorder{}
	clients, err := versioned.NewForConfig(&rest.Config{Host: "https://localhost", Transport: recorder})
	if err != nil {
		t.Fatal(err)
	}
	group := reflect.ValueOf(clients.InferencecacheV1alpha1())
	for i := range group.NumMethod() {
		name := group.Type().Method(i).Name
		if name == "RESTClient" {
			continue
		}
		arguments := make([]reflect.Value, group.Method(i).Type().NumIn())
		for j := range arguments {
			arguments[j] = reflect.ValueOf("ns")
		}
		recorder.path = ""
		call(t, group.Method(i).Call(arguments)[0])
		if _, known := served[recorder.path]; !known {
			t.Errorf("the client %s goes to %q, where nothing is served", name, recorder.path)
		}
		served[recorder.path] = true
	}
	for path, used := range served {
		if !used {
			t.Errorf("no client goes to %s", path)
		}
	}
}

// call makes one request with a typed client: a list, or else a creation.
func call(t *testing.T, client reflect.Value) {
	t.Helper()
	ctx := reflect.ValueOf(t.Context())
	if list := client.MethodByName("List"); list.IsValid() {
		list.Call([]reflect.Value{ctx, reflect.ValueOf(metav1.ListOptions{})})
		return
	}
	create := client.MethodByName("Create")
	create.Call([]reflect.Value{ctx, reflect.New(create.Type().In(1).Elem()), reflect.ValueOf(metav1.CreateOptions{})})
}

// testNames requires what kubectl lets people type: a singular for every
// resource, and a short name and the group's category for those that are listed.
func testNames(t *testing.T, s *suite) {
	for _, resource := range s.with(t) {
		if want := strings.ToLower(resource.Kind); resource.SingularName != want {
			t.Errorf("the singular of %s is %q, want %q", resource.Name, resource.SingularName, want)
		}
		if !slices.Contains(resource.Verbs, "list") {
			continue
		}
		if len(resource.ShortNames) == 0 || !slices.Contains(resource.Categories, "inferencecache") {
			t.Errorf("%s has short names %v and categories %v", resource.Name, resource.ShortNames, resource.Categories)
		}
	}
}
