/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fuzzer

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeserializer "k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Funcs returns the fill functions of the group's hub types, in the shape that
// apimachinery's round-trip tests take.
func Funcs(runtimeserializer.CodecFactory) []any {
	return []any{
		fillCacheBackendSpec,
		fillIntegrationSpec,
		fillObservationSpec,
		fillCachePolicySpec,
		fillLookupStrategy,
		fillCacheTenantSpec,
		fillFileKeySelector,
	}
}

// The literals below differ from the defaults wherever the field allows it: a
// default that replaced a value would then show.

func fillCacheBackendSpec(spec *inferencecache.CacheBackendSpec, c randfill.Continue) {
	c.FillNoCustom(spec)
	if spec.Type == "" {
		spec.Type = inferencecache.CacheBackendTypeSGLangHiCache
	}
	if spec.DeploymentKind == "" {
		spec.DeploymentKind = inferencecache.DeploymentKindStatefulSet
	}
	if spec.Replicas == nil {
		spec.Replicas = ptr.To[int32](0)
	}
	if spec.Integration == nil {
		spec.Integration = &inferencecache.IntegrationSpec{}
		c.Fill(spec.Integration)
	}
	if spec.Observation == nil {
		spec.Observation = &inferencecache.ObservationSpec{}
		c.Fill(spec.Observation)
	}
}

func fillIntegrationSpec(integration *inferencecache.IntegrationSpec, c randfill.Continue) {
	c.FillNoCustom(integration)
	if integration.Mode == "" {
		integration.Mode = inferencecache.IntegrationModeEventsOnly
	}
	if integration.Role == "" {
		integration.Role = inferencecache.IntegrationRoleReadOnly
	}
	if integration.FailOpen == nil {
		integration.FailOpen = ptr.To(false)
	}
}

func fillObservationSpec(observation *inferencecache.ObservationSpec, c randfill.Continue) {
	c.FillNoCustom(observation)
	if observation.FirstEventTimeout == nil {
		observation.FirstEventTimeout = &metav1.Duration{Duration: time.Second}
	}
}

func fillCachePolicySpec(spec *inferencecache.CachePolicySpec, c randfill.Continue) {
	c.FillNoCustom(spec)
	if spec.Eviction == "" {
		spec.Eviction = inferencecache.EvictionLFU
	}
	if spec.AffinityRouting == nil {
		spec.AffinityRouting = ptr.To(inferencecache.AffinityRoutingDisabled)
	}
}

func fillLookupStrategy(strategy *inferencecache.LookupStrategy, c randfill.Continue) {
	c.FillNoCustom(strategy)
	if strategy.EnableChainMatching == nil {
		strategy.EnableChainMatching = ptr.To(false)
	}
	if strategy.RequireChain == nil {
		strategy.RequireChain = ptr.To(true)
	}
	if strategy.EnableTenantHot == nil {
		strategy.EnableTenantHot = ptr.To(false)
	}
}

func fillCacheTenantSpec(spec *inferencecache.CacheTenantSpec, c randfill.Continue) {
	c.FillNoCustom(spec)
	if spec.IsolationMode == "" {
		spec.IsolationMode = inferencecache.IsolationModeFairness
	}
}

// fillFileKeySelector covers the one field of a Kubernetes type that carries a
// default of its own.
func fillFileKeySelector(selector *corev1.FileKeySelector, c randfill.Continue) {
	c.FillNoCustom(selector)
	if selector.Optional == nil {
		selector.Optional = ptr.To(true)
	}
}
