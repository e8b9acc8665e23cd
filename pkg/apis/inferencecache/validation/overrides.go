/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func validateEngineOverrides(overrides *inferencecache.EngineOverrides, path *field.Path) field.ErrorList {
	if overrides == nil {
		return nil
	}
	errs := validateNotBlank(overrides.Args, path.Child("args"))
	errs = append(errs, validateNotBlank(overrides.SuppressArgs, path.Child("suppressArgs"))...)
	errs = append(errs, validateDistinct(overrides.SuppressArgs, itself, path.Child("suppressArgs"))...)
	errs = append(errs, validateEnv(overrides.Env, path.Child("env"))...)
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

// validateReserved keeps overrides away from the flags and variables without
// which an engine would start and use no cache, or not start at all.
func validateReserved(overrides *inferencecache.EngineOverrides, engine *Engine, path *field.Path) field.ErrorList {
	if overrides == nil {
		return nil
	}
	var errs field.ErrorList
	refuse := func(at *field.Path, value, what string) {
		errs = append(errs, field.Invalid(at, value, fmt.Sprintf("%s is reserved by the adapter %s; remove the entry", what, engine)))
	}
	args := func(entries []string, at *field.Path) {
		for i, entry := range entries {
			if flag := flagOf(entry); engine.reservesFlag(flag) {
				refuse(at.Index(i), entry, "flag "+flag)
			}
		}
	}
	args(overrides.Args, path.Child("args"))
	args(overrides.SuppressArgs, path.Child("suppressArgs"))
	for i, env := range overrides.Env {
		if slices.Contains(engine.ReservedEnv, env.Name) {
			refuse(path.Child("env").Index(i).Child("name"), env.Name, "variable "+env.Name)
		}
	}
	for i, name := range overrides.SuppressEnv {
		if name := strings.TrimSpace(name); slices.Contains(engine.ReservedEnv, name) {
			refuse(path.Child("suppressEnv").Index(i), name, "variable "+name)
		}
	}
	return errs
}

// flagOf returns the flag that an argument begins with: what stands before the
// first blank or equals sign. Engines read underscores as dashes.
func flagOf(argument string) string {
	argument = strings.TrimSpace(argument)
	if end := strings.IndexAny(argument, "= \t\r\n"); end >= 0 {
		argument = argument[:end]
	}
	return strings.ReplaceAll(argument, "_", "-")
}

func (e *Engine) reservesFlag(flag string) bool {
	return slices.ContainsFunc(e.ReservedArgs, func(reserved string) bool {
		if family, ok := strings.CutSuffix(reserved, "*"); ok {
			return strings.HasPrefix(flag, family)
		}
		return flag == reserved
	})
}
