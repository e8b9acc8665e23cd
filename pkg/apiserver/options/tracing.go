/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/tracing"
	tracingapi "k8s.io/component-base/tracing/api/v1"

	"inferencecache.io/inference-cache/pkg/apiserver"
)

// applyTracing makes the tracer of --tracing-config-file. The library would do it
// as well, but under the name that kube-apiserver has in traces, and after it has
// made the client of etcd, whose spans would be missing.
func (o *Options) applyTracing(ctx context.Context, config *apiserver.Config, recommended *genericoptions.RecommendedOptions) error {
	file := o.Recommended.Traces.ConfigFile
	recommended.Traces = nil
	if file == "" {
		return nil
	}
	tracingConfig, err := genericoptions.ReadTracingConfiguration(file)
	if err != nil {
		return fmt.Errorf("--tracing-config-file: %w", err)
	}
	if errs := tracingapi.ValidateTracingConfiguration(tracingConfig, utilfeature.DefaultFeatureGate, nil); len(errs) > 0 {
		return fmt.Errorf("--tracing-config-file: %w", errs.ToAggregate())
	}
	// The names of the attributes are those of OpenTelemetry's conventions.
	provider, err := tracing.NewProvider(ctx, tracingConfig, nil, []resource.Option{resource.WithAttributes(
		attribute.String("service.name", apiserver.ProgramName),
		attribute.String("service.version", apiserver.Version()),
		attribute.String("service.instance.id", config.Extra.Name),
	)})
	if err != nil {
		return fmt.Errorf("--tracing-config-file: %w", err)
	}
	config.Generic.TracerProvider = provider
	config.Extra.Tracing = provider
	recommended.Etcd.StorageConfig.Transport.TracerProvider = provider
	return nil
}
