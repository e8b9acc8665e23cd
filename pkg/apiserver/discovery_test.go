/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
)

// served is every path of the group with its verbs. A change here is a change of
// the public interface.
var served = map[string]string{
	"cachebackends":             "create delete deletecollection get list patch update watch",
	"cachebackends/observation": "get",
	"cachebackends/probe":       "create",
	"cachebackends/scale":       "get patch update",
	"cachebackends/snapshot":    "get",
	"cachebackends/status":      "get patch update",
	"cacheindices":              "get list watch",
	"cachepolicies":             "create delete deletecollection get list patch update watch",
	"cachepolicies/status":      "get patch update",
	"cachetenants":              "create delete deletecollection get list patch update watch",
	"cachetenants/status":       "get patch update",
	"routelookups":              "create",
}

func TestDiscovery(t *testing.T) {
	s := apiservertest.Start(t)
	c := discovery.NewDiscoveryClientForConfigOrDie(s.Config)
	t.Run("aggregated", func(t *testing.T) {
		groups, resources, failed, err := c.GroupsAndMaybeResources()
		if err != nil || len(failed) != 0 || resources == nil {
			t.Fatalf("no aggregated discovery: error %v, failed %v", err, failed)
		}
		for gv, list := range resources {
			if gv.Group == "inferencecache.io" {
				compareServed(t, list)
			}
		}
		if !slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == "inferencecache.io" }) {
			t.Error("the group is not listed")
		}
	})
	t.Run("by group and version", func(t *testing.T) {
		list, err := c.WithLegacy().ServerResourcesForGroupVersion("inferencecache.io/v1alpha1")
		if err != nil {
			t.Fatal(err)
		}
		compareServed(t, list)
	})
}

func compareServed(t *testing.T, list *metav1.APIResourceList) {
	t.Helper()
	got := map[string]string{}
	for _, r := range list.APIResources {
		verbs := slices.Sorted(slices.Values(r.Verbs))
		got[r.Name] = strings.Join(verbs, " ")
	}
	if diff := cmp.Diff(served, got); diff != "" {
		t.Errorf("wrong resources (-want +got):\n%s", diff)
	}
}

func TestAccept(t *testing.T) {
	s := apiservertest.Start(t)
	create(t, clientset(t, s.Config), "a")
	c := client(t, s)
	paths := map[string]string{
		"list":      group + "/cachebackends",
		"object":    group + "/namespaces/default/cachebackends/a",
		"virtual":   group + "/namespaces/default/cachebackends/a/observation",
		"scale":     group + "/namespaces/default/cachebackends/a/scale",
		"index":     group + "/cacheindices",
		"not found": group + "/namespaces/default/cachebackends/absent",
		"resources": group,
		"groups":    "/apis",
	}
	const protobuf, cbor = "application/vnd.kubernetes.protobuf", "application/cbor"
	tests := map[string]struct {
		accept string
		// want is the content type; none means not acceptable.
		want string
	}{
		"nothing":                    {want: "application/json"},
		"anything":                   {accept: "*/*", want: "application/json"},
		"JSON":                       {accept: "application/json", want: "application/json"},
		"YAML":                       {accept: "application/yaml", want: "application/yaml"},
		"protobuf, then JSON":        {accept: protobuf + ", application/json", want: "application/json"},
		"protobuf, then anything":    {accept: protobuf + ", */*", want: "application/json"},
		"CBOR, then JSON":            {accept: cbor + ", application/json", want: "application/json"},
		"protobuf only":              {accept: protobuf},
		"CBOR only":                  {accept: cbor},
		"something unheard of":       {accept: "image/png"},
		"browser":                    {accept: "text/html,application/xml;q=0.9,*/*;q=0.8", want: "application/json"},
		"protobuf, JSON, by quality": {accept: protobuf + ";q=1, application/json;q=0.1", want: "application/json"},
	}
	for name, tc := range tests {
		for kind, path := range paths {
			t.Run(name+"/"+kind, func(t *testing.T) {
				checkAccept(t, c, s, path, kind == "not found", tc.accept, tc.want)
			})
		}
	}
}

func checkAccept(t *testing.T, c *http.Client, s *apiservertest.Server, path string, absent bool, accept, want string) {
	t.Helper()
	headers := []string{"Authorization", "Bearer " + s.Token}
	if accept != "" {
		headers = append(headers, "Accept", accept)
	}
	got := get(t, c, s.Config.Host+path, headers...)
	if want == "" {
		if got.status != http.StatusNotAcceptable {
			t.Errorf("status %d, want %d", got.status, http.StatusNotAcceptable)
		}
		return
	}
	wantStatus := http.StatusOK
	if absent {
		wantStatus = http.StatusNotFound
	}
	if got.status != wantStatus || got.contentType != want {
		t.Fatalf("status %d, content type %s, want %d, %s", got.status, got.contentType, wantStatus, want)
	}
	decode := json.Unmarshal
	if want == "application/yaml" {
		decode = func(b []byte, v any) error { return yaml.Unmarshal(b, v) }
	}
	var typed metav1.TypeMeta
	if err := decode([]byte(got.body), &typed); err != nil || typed.Kind == "" {
		t.Errorf("body is no object: kind %q, error %v", typed.Kind, err)
	}
}

// schemaPrefix comes before the name of a kind in both forms of the schema.
const schemaPrefix = "io.inferencecache.inference-cache.pkg.apis.inferencecache.v1alpha1."

var kinds = []string{"CacheBackend", "CacheBackendObservation", "CacheBackendProbe", "CacheBackendSnapshot", "CacheIndex", "CachePolicy", "CacheTenant", "RouteLookup"}

func TestOpenAPIV2(t *testing.T) {
	s := apiservertest.Start(t)
	doc, err := discovery.NewDiscoveryClientForConfigOrDie(s.Config).OpenAPISchema()
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	for _, d := range doc.GetDefinitions().GetAdditionalProperties() {
		defined[d.GetName()] = true
	}
	for _, k := range kinds {
		if !defined[schemaPrefix+k] {
			t.Errorf("no definition of %s", k)
		}
	}
}

// openAPIV3 is the part of a document that the test looks at.
type openAPIV3 struct {
	Paths      map[string]any `json:"paths"`
	Components struct {
		Schemas map[string]struct {
			Kinds []metav1.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		} `json:"schemas"`
	} `json:"components"`
}

func TestOpenAPIV3(t *testing.T) {
	s := apiservertest.Start(t)
	paths, err := discovery.NewDiscoveryClientForConfigOrDie(s.Config).OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	document, ok := paths["apis/inferencecache.io/v1alpha1"]
	if !ok {
		t.Fatalf("no document for the group in %v", paths)
	}
	b, err := document.Schema("application/json")
	if err != nil {
		t.Fatal(err)
	}
	var doc openAPIV3
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		want := []metav1.GroupVersionKind{{Group: "inferencecache.io", Version: "v1alpha1", Kind: k}}
		if diff := cmp.Diff(want, doc.Components.Schemas[schemaPrefix+k].Kinds); diff != "" {
			t.Errorf("schema of %s (-want +got):\n%s", k, diff)
		}
	}
	for resource := range served {
		name, sub, _ := strings.Cut(resource, "/")
		path := group + "/namespaces/{namespace}/" + name
		if name == "cacheindices" {
			path = group + "/" + name
		}
		if sub != "" {
			path += "/{name}/" + sub
		}
		if doc.Paths[path] == nil {
			t.Errorf("no path %s", path)
		}
	}
}
