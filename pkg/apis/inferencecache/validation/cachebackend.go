/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var (
	runtimes = []inferencecache.Runtime{inferencecache.RuntimeVLLM, inferencecache.RuntimeSGLang}

	backendTypes = []inferencecache.CacheBackendType{
		inferencecache.CacheBackendTypeLMCache, inferencecache.CacheBackendTypeSGLangHiCache,
	}

	deploymentKinds = []inferencecache.DeploymentKind{
		inferencecache.DeploymentKindDeployment, inferencecache.DeploymentKindStatefulSet,
	}
)

// ValidateCacheBackend returns every violation in a CacheBackend that is to be
// created.
func ValidateCacheBackend(backend *inferencecache.CacheBackend, adapters Adapters) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMeta(&backend.ObjectMeta, true,
		apimachineryvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, validateCacheBackend(backend, adapters)...)
}

// ValidateCacheBackendUpdate returns the violations that an update brings into a
// CacheBackend.
func ValidateCacheBackendUpdate(updated, stored *inferencecache.CacheBackend, adapters Adapters) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	return append(errs, introduced(validateCacheBackend(updated, adapters), validateCacheBackend(stored, adapters))...)
}

// ValidateCacheBackendStatusUpdate returns the violations that a write to the
// status brings into a CacheBackend. The spec is not looked at: nothing wrong in
// it may keep the controller from reporting so.
func ValidateCacheBackendStatusUpdate(updated, stored *inferencecache.CacheBackend) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	status := field.NewPath("status")
	return append(errs, introduced(
		validateCacheBackendStatus(&updated.Status, status),
		validateCacheBackendStatus(&stored.Status, status))...)
}

// validateCacheBackend holds everything but the object metadata as such to the
// rules.
func validateCacheBackend(backend *inferencecache.CacheBackend, adapters Adapters) field.ErrorList {
	metadata, path, spec := field.NewPath("metadata"), field.NewPath("spec"), &backend.Spec
	errs := validateManagedName(backend, metadata.Child("name"))
	errs = append(errs, validateKernelCheck(backend.Annotations, metadata.Child("annotations"))...)
	errs = append(errs, validateCacheBackendSpec(spec, adapters, path)...)
	errs = append(errs, validateEngine(spec, adapters, path)...)
	errs = append(errs, validateEngineHostNetwork(spec, adapters, path)...)
	errs = append(errs, validateEventsOnly(spec, path)...)
	errs = append(errs, validateScaling(spec, adapters, path)...)
	return append(errs, validateEndpoint(spec, backend.Namespace, adapters, path.Child("remoteStorage", "endpoint"))...)
}

// validateCacheBackendSpec holds each block of a spec to its own rules.
func validateCacheBackendSpec(spec *inferencecache.CacheBackendSpec, adapters Adapters, path *field.Path) field.ErrorList {
	errs := validateEnum(spec.Runtime, runtimes, path.Child("runtime"))
	errs = append(errs, validateEnum(spec.Type, backendTypes, path.Child("type"))...)
	errs = append(errs, validateLMCache(spec, path)...)
	errs = append(errs, validateHiCache(spec, path)...)
	errs = append(errs, validateRemoteStorage(spec.RemoteStorage, adapters, path.Child("remoteStorage"))...)
	errs = append(errs, validateObservation(spec.Observation, path.Child("observation"))...)
	errs = append(errs, validateIntegration(spec.Integration, path.Child("integration"))...)
	if spec.EngineSelector != nil {
		errs = append(errs, validateLabels(spec.EngineSelector.MatchLabels, path.Child("engineSelector", "matchLabels"))...)
	}
	errs = append(errs, validateEnum(spec.DeploymentKind, deploymentKinds, path.Child("deploymentKind"))...)
	errs = append(errs, validateAtLeast(spec.Replicas, 0, path.Child("replicas"))...)
	errs = append(errs, validateAutoscaling(spec.Autoscaling, path.Child("autoscaling"))...)
	return append(errs, validateTemplate(spec.Template, managedStore(spec, adapters), path.Child("template"))...)
}

func validateCacheBackendStatus(status *inferencecache.CacheBackendStatus, path *field.Path) field.ErrorList {
	errs := validateAtLeast(status.MatchedEnginePods, 0, path.Child("matchedEnginePods"))
	errs = append(errs, validateAtLeast(&status.Replicas, 0, path.Child("replicas"))...)
	errs = append(errs, validateAtLeast(&status.ObservedGeneration, 0, path.Child("observedGeneration"))...)
	if participation := status.IndexParticipation; participation != nil {
		at := path.Child("indexParticipation")
		errs = append(errs, validateAtLeast(&participation.PrefixCount, 0, at.Child("prefixCount"))...)
		errs = append(errs, validateShare(participation.HitRate, at.Child("hitRate"))...)
		errs = append(errs, validateShare(participation.T2HitRate, at.Child("t2HitRate"))...)
	}
	return append(errs, metav1validation.ValidateConditions(status.Conditions, path.Child("conditions"))...)
}
