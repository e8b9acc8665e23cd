/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/admission"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// TestExamplesAreValid reads every example as the API server does: strictly,
// with defaults, and under the rules of its kind.
func TestExamplesAreValid(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(inferencecache.SchemeGroupVersion)
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"*.yaml", "lookups/*.yaml", "with-engine/backend.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, examplesDir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	kinds := map[string]int{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			object, kind, err := decoder.Decode(text, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			kinds[kind.Kind]++
			meta, err := apimeta.Accessor(object)
			if err != nil {
				t.Fatal(err)
			}
			// The server takes it from the path of the request.
			meta.SetNamespace(namespace)
			if errs := validate(object); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
	for kind, want := range map[string]int{"CacheBackend": 14, "CachePolicy": 1, "CacheTenant": 1, "RouteLookup": 1} {
		if kinds[kind] != want {
			t.Errorf("%d examples of %s, want %d", kinds[kind], kind, want)
		}
	}
}

func validate(object runtime.Object) field.ErrorList {
	switch o := object.(type) {
	case *inferencecache.CacheBackend:
		return validation.ValidateCacheBackend(o, admission.New(adapters.All()))
	case *inferencecache.CachePolicy:
		return validation.ValidateCachePolicy(o)
	case *inferencecache.CacheTenant:
		return validation.ValidateCacheTenant(o)
	case *inferencecache.RouteLookup:
		return validation.ValidateRouteLookup(o)
	default:
		return field.ErrorList{field.InternalError(nil, os.ErrInvalid)}
	}
}
