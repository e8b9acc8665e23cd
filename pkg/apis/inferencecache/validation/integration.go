/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
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

// validateObservation refuses a window that is over before it begins. Zero is
// allowed: it asks for an event from the start.
func validateObservation(observation *inferencecache.ObservationSpec, path *field.Path) field.ErrorList {
	if observation == nil || observation.FirstEventTimeout == nil || observation.FirstEventTimeout.Duration >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("firstEventTimeout"), observation.FirstEventTimeout.Duration.String(),
		`must not be negative; set a duration such as "5m"`)}
}
