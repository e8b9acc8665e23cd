/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// DefaultFirstEventTimeout is how long a backend may go without its first KV
// event: long enough for a large model to load and take its first request.
const DefaultFirstEventTimeout = 5 * time.Minute

func addDefaultingFuncs(scheme *runtime.Scheme) error {
	return RegisterDefaults(scheme)
}

// SetDefaults_CacheBackendSpec fills in literals. Integration and observation
// are made when absent, because their fields have defaults of their own; every
// other optional block means something by its absence and is left alone.
func SetDefaults_CacheBackendSpec(spec *CacheBackendSpec) {
	if spec.Type == "" {
		spec.Type = CacheBackendTypeLMCache
	}
	if spec.DeploymentKind == "" {
		spec.DeploymentKind = DeploymentKindDeployment
	}
	if spec.Replicas == nil {
		spec.Replicas = ptr.To[int32](1)
	}
	if spec.Integration == nil {
		spec.Integration = &IntegrationSpec{}
	}
	if spec.Observation == nil {
		spec.Observation = &ObservationSpec{}
	}
}

// SetDefaults_IntegrationSpec fills in the literals of the wiring.
func SetDefaults_IntegrationSpec(integration *IntegrationSpec) {
	if integration.Mode == "" {
		integration.Mode = IntegrationModeOffload
	}
	if integration.Role == "" {
		integration.Role = IntegrationRoleReadWrite
	}
	if integration.FailOpen == nil {
		integration.FailOpen = ptr.To(true)
	}
}

// SetDefaults_ObservationSpec fills in the literals of the observation.
func SetDefaults_ObservationSpec(observation *ObservationSpec) {
	if observation.FirstEventTimeout == nil {
		observation.FirstEventTimeout = &metav1.Duration{Duration: DefaultFirstEventTimeout}
	}
}

// SetDefaults_CachePolicySpec fills in literals. Floors stay absent: a floor
// that nobody asked for must not hide a match.
func SetDefaults_CachePolicySpec(spec *CachePolicySpec) {
	if spec.Eviction == "" {
		spec.Eviction = EvictionLRU
	}
	if spec.AffinityRouting == nil {
		spec.AffinityRouting = ptr.To(AffinityRoutingEnabled)
	}
}

// SetDefaults_LookupStrategy fills in the literals of a strategy that is given
// in part.
func SetDefaults_LookupStrategy(strategy *LookupStrategy) {
	if strategy.EnableChainMatching == nil {
		strategy.EnableChainMatching = ptr.To(true)
	}
	if strategy.RequireChain == nil {
		strategy.RequireChain = ptr.To(false)
	}
	if strategy.EnableTenantHot == nil {
		strategy.EnableTenantHot = ptr.To(true)
	}
}

// SetDefaults_CacheTenantSpec fills in literals.
func SetDefaults_CacheTenantSpec(spec *CacheTenantSpec) {
	if spec.IsolationMode == "" {
		spec.IsolationMode = IsolationModeFairness
	}
}
