/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func ownModels(t *testing.T) spec.Definitions {
	t.Helper()
	prefix := strings.TrimSuffix(v1alpha1.CacheBackend{}.OpenAPIModelName(), "CacheBackend")
	own := spec.Definitions{}
	for name, schema := range swagger().Definitions {
		if short, found := strings.CutPrefix(name, prefix); found {
			own[short] = schema
		}
	}
	if len(own) == 0 {
		t.Fatal("the document has no model of the group")
	}
	return own
}

func TestModelsAreClosed(t *testing.T) {
	definitions := swagger().Definitions
	for name, schema := range definitions {
		for property, value := range schema.Properties {
			for _, inner := range []*spec.Schema{&value, items(value)} {
				if inner == nil || inner.Ref.String() == "" {
					continue
				}
				target := strings.TrimPrefix(inner.Ref.String(), "#/definitions/")
				if _, defined := definitions[target]; !defined {
					t.Errorf("%s.%s refers to %s, which is not defined", name, property, target)
				}
			}
		}
	}
}

func items(schema spec.Schema) *spec.Schema {
	if schema.Items == nil {
		return nil
	}
	return schema.Items.Schema
}

// TestListsSayHowTheyMerge: a list without a type is replaced as a whole by
// whoever applies last, which nobody notices until two appliers meet.
func TestListsSayHowTheyMerge(t *testing.T) {
	for name, schema := range ownModels(t) {
		for property, value := range schema.Properties {
			// The items of a list kind are objects of their own.
			if !value.Type.Contains("array") || strings.HasSuffix(name, "List") && property == "items" {
				continue
			}
			kind, _ := value.Extensions.GetString("x-kubernetes-list-type")
			if !slices.Contains([]string{"atomic", "set", "map"}, kind) {
				t.Errorf("%s.%s has no list type", name, property)
			}
			_, keyed := value.Extensions["x-kubernetes-list-map-keys"]
			if keyed != (kind == "map") {
				t.Errorf("%s.%s: list type %q and map keys do not fit", name, property, kind)
			}
		}
	}
}

// TestEverythingIsExplained feeds kubectl explain.
func TestEverythingIsExplained(t *testing.T) {
	fromTypeMeta := []string{"kind", "apiVersion"}
	for name, schema := range ownModels(t) {
		if schema.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for property, value := range schema.Properties {
			if slices.Contains(fromTypeMeta, property) {
				continue
			}
			if !strings.HasPrefix(value.Description, property+" ") {
				t.Errorf("%s.%s is not described by a sentence that begins with its name: %q", name, property, value.Description)
			}
		}
	}
}
