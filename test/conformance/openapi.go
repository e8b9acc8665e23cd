/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// openAPI reads the OpenAPI v3 document of the group, as "kubectl explain" does.
func (s *suite) openAPI(t *testing.T) *spec3.OpenAPI {
	t.Helper()
	code, _, body := s.get(t, "/openapi/v3/apis/"+v1alpha1.SchemeGroupVersion.String(), "application/json")
	if code != http.StatusOK {
		t.Fatalf("OpenAPI v3: %d %s", code, body)
	}
	document := &spec3.OpenAPI{}
	if err := json.Unmarshal(body, document); err != nil {
		t.Fatal(err)
	}
	return document
}

// ownSchema says whether a schema is one of this group's types. Those of
// Kubernetes are documented by Kubernetes.
func ownSchema(name string) bool {
	return strings.Contains(name, "inferencecache") || strings.Contains(name, "inference-cache")
}

// testDocumentation requires a description of every field of every type, and
// that every list says how it is merged.
func testDocumentation(t *testing.T, s *suite) {
	checked := 0
	for name, schema := range s.openAPI(t).Components.Schemas {
		if !ownSchema(name) {
			continue
		}
		checked++
		if schema.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for field, property := range schema.Properties {
			if property.Description == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
			// The items of a list kind are never applied.
			merged := field != "items" || !strings.HasSuffix(name, "List")
			if merged && property.Type.Contains("array") && property.Extensions["x-kubernetes-list-type"] == nil {
				t.Errorf("the list %s.%s does not say how it is merged", name, field)
			}
		}
	}
	if checked == 0 {
		t.Error("no schema of the group was found")
	}
}

// testKindsHavePaths requires what "kubectl explain" and client-side validation
// look for: each served kind has a schema that names it and a path that uses it.
func testKindsHavePaths(t *testing.T, s *suite) {
	document := s.openAPI(t)
	described := map[string]bool{}
	for _, schema := range document.Components.Schemas {
		for _, kind := range kinds(schema) {
			described[kind] = true
		}
	}
	var paths []string
	for path := range document.Paths.Paths {
		paths = append(paths, path)
	}
	for _, resource := range s.resources {
		group := resource.Group
		if group == "" {
			group = v1alpha1.GroupName
		}
		if !described[group+"/"+resource.Kind] {
			t.Errorf("no schema says that it is a %s of %s", resource.Kind, group)
		}
		parts := strings.Split(resource.Name, "/")
		if !slices.ContainsFunc(paths, func(path string) bool {
			return strings.Contains(path, "/"+parts[0]) && strings.HasSuffix(path, "/"+parts[len(parts)-1])
		}) {
			t.Errorf("no path of OpenAPI leads to %s", resource.Name)
		}
	}
	if _, err := s.discovery.OpenAPISchema(); err != nil {
		t.Errorf("OpenAPI v2: %v", err)
	}
}

// kinds returns group/kind of what a schema says that it describes.
func kinds(schema *spec.Schema) []string {
	list, ok := schema.Extensions["x-kubernetes-group-version-kind"].([]any)
	if !ok {
		return nil
	}
	var found []string
	for _, entry := range list {
		if kind, ok := entry.(map[string]any); ok {
			found = append(found, text(kind["group"])+"/"+text(kind["kind"]))
		}
	}
	return found
}

// text returns v as a string, or an empty one.
func text(v any) string {
	s, _ := v.(string)
	return s
}
