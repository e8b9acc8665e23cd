/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command modelsschema prints the OpenAPI models of the group's types, and of
// all that they refer to, as a Swagger document. The generator of apply
// configurations reads it to learn how lists and maps merge.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/openapi"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(swagger()); err != nil {
		fmt.Fprintln(os.Stderr, "modelsschema: write the document:", err)
		os.Exit(1)
	}
}

// swagger holds the models of the group and their closure. The definitions name
// hundreds of types of Kubernetes that nothing here refers to; those stay out, so
// that they do not end up in every client.
func swagger() *spec.Swagger {
	all := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	})
	prefix := strings.TrimSuffix(v1alpha1.CacheBackend{}.OpenAPIModelName(), "CacheBackend")
	models := spec.Definitions{}
	for name := range all {
		if strings.HasPrefix(name, prefix) {
			collect(name, all, models)
		}
	}
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: v1alpha1.GroupName, Version: v1alpha1.SchemeGroupVersion.Version}},
		Paths:       &spec.Paths{},
		Definitions: models,
	}}
}

// collect adds the model called name to models, with everything it depends on.
func collect(name string, all map[string]common.OpenAPIDefinition, models spec.Definitions) {
	if _, done := models[name]; done {
		return
	}
	definition := all[name]
	schema := definition.Schema
	// A type with two forms, such as IntOrString, keeps the older one here:
	// structured merge reads version 2.
	if older, ok := schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
		schema = older
	}
	models[name] = schema
	for _, dependency := range definition.Dependencies {
		collect(dependency, all, models)
	}
}
