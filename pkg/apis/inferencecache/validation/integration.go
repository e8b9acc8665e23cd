/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var (
	integrationModes = []inferencecache.IntegrationMode{
		inferencecache.IntegrationModeOffload, inferencecache.IntegrationModeEventsOnly,
	}

	integrationRoles = []inferencecache.IntegrationRole{
		inferencecache.IntegrationRoleReadOnly, inferencecache.IntegrationRoleWriteOnly, inferencecache.IntegrationRoleReadWrite,
	}
)

func validateIntegration(integration *inferencecache.IntegrationSpec, path *field.Path) field.ErrorList {
	if integration == nil {
		return nil
	}
	errs := validateEnum(integration.Mode, integrationModes, path.Child("mode"))
	errs = append(errs, validateEnum(integration.Role, integrationRoles, path.Child("role"))...)
	return append(errs, validateEngineOverrides(integration.EngineOverrides, path.Child("engineOverrides"))...)
}

func validateEngineOverrides(overrides *inferencecache.EngineOverrides, path *field.Path) field.ErrorList {
	if overrides == nil {
		return nil
	}
	errs := validateNotBlank(overrides.Args, path.Child("args"))
	errs = append(errs, validateNotBlank(overrides.SuppressArgs, path.Child("suppressArgs"))...)
	errs = append(errs, validateDistinct(overrides.SuppressArgs, itself, path.Child("suppressArgs"))...)
	for i, env := range overrides.Env {
		if env.Name == "" {
			errs = append(errs, field.Required(path.Child("env").Index(i).Child("name"), "name the variable"))
		}
	}
	errs = append(errs, validateDistinct(overrides.Env, func(env corev1.EnvVar) string { return env.Name }, path.Child("env"), "name")...)
	errs = append(errs, validateNotBlank(overrides.SuppressEnv, path.Child("suppressEnv"))...)
	return append(errs, validateDistinct(overrides.SuppressEnv, itself, path.Child("suppressEnv"))...)
}

func itself(text string) string { return text }

func validateNotBlank(texts []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			errs = append(errs, field.Invalid(path.Index(i), text, "must not be blank; remove the entry"))
		}
	}
	return errs
}

// validateObservation refuses a window that is over before it begins. Zero is
// allowed: it asks for an event from the start.
func validateObservation(observation *inferencecache.ObservationSpec, path *field.Path) field.ErrorList {
	if observation == nil || observation.FirstEventTimeout == nil || observation.FirstEventTimeout.Duration >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("firstEventTimeout"), observation.FirstEventTimeout.Duration.String(),
		`must not be negative; set a duration such as "5m"`)}
}
