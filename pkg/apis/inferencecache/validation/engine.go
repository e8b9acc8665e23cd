/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// validateEngine holds a backend to what the adapter of its pair declares. A
// runtime or a type that does not exist at all has been refused already and is
// no pair to complain about.
func validateEngine(spec *inferencecache.CacheBackendSpec, adapters Adapters, path *field.Path) field.ErrorList {
	if !slices.Contains(runtimes, spec.Runtime) || !slices.Contains(backendTypes, spec.Type) {
		return nil
	}
	engine := engineOf(spec, adapters)
	if engine == nil {
		return field.ErrorList{field.Invalid(path.Child("type"), spec.Type, fmt.Sprintf(
			"no adapter supports it with runtime %s; supported pairs: %s", spec.Runtime, pairs(adapters)))}
	}
	errs := validatePairIntegration(spec.Integration, engine, path.Child("integration"))
	errs = append(errs, validatePairSelector(spec.EngineSelector, engine, path.Child("engineSelector"))...)
	errs = append(errs, validateBinding(spec, engine, adapters, path.Child("remoteStorage"))...)
	if spec.Integration != nil {
		errs = append(errs, validateReserved(spec.Integration.EngineOverrides, engine, path.Child("integration", "engineOverrides"))...)
	}
	return errs
}

// validatePairIntegration refuses a mode, a role or a failure mode that the
// engine cannot be wired for: it would do something else than was asked.
func validatePairIntegration(integration *inferencecache.IntegrationSpec, engine *Engine, path *field.Path) field.ErrorList {
	if integration == nil {
		return nil
	}
	var errs field.ErrorList
	if mode := integration.Mode; slices.Contains(integrationModes, mode) && !slices.Contains(engine.Modes, mode) {
		errs = append(errs, field.Invalid(path.Child("mode"), mode, notByPair(engine, engine.Modes)))
	}
	if role := integration.Role; slices.Contains(integrationRoles, role) && !slices.Contains(engine.Roles, role) {
		errs = append(errs, field.Invalid(path.Child("role"), role, notByPair(engine, engine.Roles)))
	}
	if !ptr.Deref(integration.FailOpen, true) && !engine.FailsClosed {
		errs = append(errs, field.Invalid(path.Child("failOpen"), false, fmt.Sprintf("%s always fails open; set it to true", engine)))
	}
	return errs
}

// notByPair says what a pair supports instead.
func notByPair[T ~string](engine *Engine, supported []T) string {
	if len(supported) == 1 {
		return fmt.Sprintf("is not supported by %s; set it to %q", engine, string(supported[0]))
	}
	return fmt.Sprintf("is not supported by %s; set it to one of %s", engine, join(supported))
}

// validatePairSelector wants engines to be selected where the whole effect of a
// backend is on them.
func validatePairSelector(selector *inferencecache.EngineSelector, engine *Engine, path *field.Path) field.ErrorList {
	if !engine.NeedsSelector || (selector != nil && len(selector.MatchLabels) > 0) {
		return nil
	}
	return field.ErrorList{field.Required(path.Child("matchLabels"), fmt.Sprintf(
		"%s lives in the engine; set the labels of the engine Pods that use it", engine))}
}

// validateBinding refuses a store that the engine cannot talk to, and the lack of
// one where the engine needs it. EventsOnly wires neither.
func validateBinding(spec *inferencecache.CacheBackendSpec, engine *Engine, adapters Adapters, path *field.Path) field.ErrorList {
	if eventsOnly(spec) {
		return nil
	}
	if spec.RemoteStorage == nil {
		if slices.Contains(engine.Bindings, HostOnly) {
			return nil
		}
		return field.ErrorList{field.Required(path, fmt.Sprintf("%s needs a store; %s", engine, engine.usableWith(adapters)))}
	}
	store := storeOf(spec.RemoteStorage, adapters)
	if store == nil || slices.Contains(engine.Bindings, store.Binding) {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("provider"), spec.RemoteStorage.Provider, fmt.Sprintf(
		"%s does not speak %s; %s", engine, store.Binding, engine.usableWith(adapters)))}
}

// validateEngineHostNetwork refuses to move engines to their node's network for
// a store that gains nothing by it: the engines would share their ports with
// everything else on the node.
func validateEngineHostNetwork(spec *inferencecache.CacheBackendSpec, adapters Adapters, path *field.Path) field.ErrorList {
	if spec.Integration == nil || !spec.Integration.EngineHostNetwork {
		return nil
	}
	if store := storeOf(spec.RemoteStorage, adapters); store != nil && store.EngineHostNetwork {
		return nil
	}
	var providers []inferencecache.StorageProvider
	for _, store := range adapters.Stores() {
		if store.EngineHostNetwork {
			providers = append(providers, store.Provider)
		}
	}
	return field.ErrorList{field.Forbidden(path.Child("integration", "engineHostNetwork"),
		fmt.Sprintf("only allowed with a remote store of provider %s; remove it", join(providers)))}
}
