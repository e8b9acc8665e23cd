/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"

	generatedopenapi "inferencecache.io/inference-cache/pkg/generated/openapi"
)

// title heads both OpenAPI documents.
const title = "inference-cache"

// ApplyOpenAPI makes config publish the schema in both forms. Version 3 is also
// what managed fields are computed from, so a group does not install without
// it; version 2 is what the aggregator and older tools read.
func ApplyOpenAPI(config *genericapiserver.Config, scheme *runtime.Scheme, version string) {
	namer := openapi.NewDefinitionNamer(scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(generatedopenapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIConfig.Info.Title = title
	config.OpenAPIConfig.Info.Version = version
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, namer)
	config.OpenAPIV3Config.Info.Title = title
	config.OpenAPIV3Config.Info.Version = version
}
