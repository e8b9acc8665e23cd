/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"embed"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// Server is what is held against the rules.
type Server struct {
	// Config is for a client that may do everything.
	Config *rest.Config
	// EnsureNamespace makes a namespace if it is missing; nil where any may be used.
	EnsureNamespace func(ctx context.Context, name string) error
}

// suite is a running server, its clients and what it serves.
type suite struct {
	server    Server
	clients   versioned.Interface
	dynamic   dynamic.Interface
	discovery discovery.DiscoveryInterface
	// resources are those of the group, subresources included.
	resources []metav1.APIResource
}

// Test runs all rules against a server. It leaves its objects behind, and must not
// run twice against one server.
func Test(t *testing.T, server Server) {
	t.Helper()
	s := newSuite(t, server)
	for name, rule := range map[string]func(*testing.T, *suite){
		"reflectors sync":           testReflectors,
		"streaming lists end":       testStreamingLists,
		"lists lead to watches":     testListThenWatch,
		"media types":               testMediaTypes,
		"discovery forms agree":     testDiscoveryForms,
		"client paths exist":        testClientPaths,
		"fields are documented":     testDocumentation,
		"kinds have paths":          testKindsHavePaths,
		"apply by two managers":     testApply,
		"status and spec are apart": testStatus,
		"creation by every verb":    testCreation,
		"subresources never create": testSubresourcesNeverCreate,
		"autoscalers find scales":   testScale,
		"resources are named":       testNames,
		"lists come in chunks":      testChunks,
		"dry-run leaves no trace":   testDryRun,
		"unknown fields are found":  testStrictFields,
		"deletion and finalizers":   testDeletion,
		"selectors":                 testSelectors,
	} {
		t.Run(name, func(t *testing.T) { rule(t, s) })
	}
}

func newSuite(t *testing.T, server Server) *suite {
	t.Helper()
	clients, err := versioned.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	dynamicClient, err := dynamic.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := clients.Discovery().ServerResourcesForGroupVersion(v1alpha1.SchemeGroupVersion.String())
	if err != nil {
		t.Fatal(err)
	}
	return &suite{
		server:    server,
		clients:   clients,
		dynamic:   dynamicClient,
		discovery: clients.Discovery(),
		resources: list.APIResources,
	}
}

// with returns the main resources that have all the verbs. A group without any
// is a mistake of the test.
func (s *suite) with(t *testing.T, verbs ...string) []metav1.APIResource {
	t.Helper()
	var found []metav1.APIResource
	for _, resource := range s.resources {
		missing := func(verb string) bool { return !slices.Contains(resource.Verbs, verb) }
		if !strings.Contains(resource.Name, "/") && !slices.ContainsFunc(verbs, missing) {
			found = append(found, resource)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no resource has the verbs %v", verbs)
	}
	return found
}

// serves reports whether there is a resource or subresource of that name.
func (s *suite) serves(name string) bool {
	return slices.ContainsFunc(s.resources, func(resource metav1.APIResource) bool { return resource.Name == name })
}

// client returns the dynamic client of a resource in a namespace, which is
// ignored for a cluster-scoped one.
func (s *suite) client(t *testing.T, resource metav1.APIResource, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client := s.dynamic.Resource(v1alpha1.SchemeGroupVersion.WithResource(resource.Name))
	if !resource.Namespaced {
		return client
	}
	if s.server.EnsureNamespace != nil && namespace != metav1.NamespaceAll {
		if err := s.server.EnsureNamespace(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
	}
	return client.Namespace(namespace)
}

// samples has a valid object of every stored resource.
//
//go:embed testdata/*.yaml
var samples embed.FS

// sample returns a valid object of a resource from testdata, under a new name.
func sample(t *testing.T, resource metav1.APIResource, name string) *unstructured.Unstructured {
	t.Helper()
	data, err := samples.ReadFile("testdata/" + resource.Name + ".yaml")
	if err != nil {
		t.Fatalf("every stored resource needs a sample: %v", err)
	}
	obj := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(data, &obj.Object); err != nil {
		t.Fatal(err)
	}
	if obj.GetKind() != resource.Kind {
		t.Fatalf("the sample of %s is a %s", resource.Name, obj.GetKind())
	}
	obj.SetName(name)
	if resource.Name == "cachetenants" {
		// A tenantID belongs to one object of all rules that run.
		id := strings.ReplaceAll(t.Name(), "/", ".") + "." + name
		if err := unstructured.SetNestedField(obj.Object, id, "spec", "tenantID"); err != nil {
			t.Fatal(err)
		}
	}
	return obj
}

// apart returns the namespace for one of several objects. It is the given one,
// except for a kind of which a namespace has at most one.
func apart(resource metav1.APIResource, namespace, name string) string {
	if resource.Name == "cachepolicies" {
		return namespace + "-" + name
	}
	return namespace
}

// createApart stores one of several samples, with a label that says so.
func (s *suite) createApart(t *testing.T, resource metav1.APIResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	obj := sample(t, resource, name)
	obj.SetLabels(map[string]string{"together": namespace})
	created, err := s.client(t, resource, apart(resource, namespace, name)).Create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// together returns a client that sees the objects of createApart, and a label
// selector for them.
func (s *suite) together(t *testing.T, resource metav1.APIResource, namespace string) (dynamic.ResourceInterface, string) {
	t.Helper()
	if apart(resource, namespace, "a") != namespace {
		return s.client(t, resource, metav1.NamespaceAll), "together=" + namespace
	}
	return s.client(t, resource, namespace), ""
}

// create stores a sample.
func (s *suite) create(t *testing.T, resource metav1.APIResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	created, err := s.client(t, resource, namespace).Create(t.Context(), sample(t, resource, name), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}
