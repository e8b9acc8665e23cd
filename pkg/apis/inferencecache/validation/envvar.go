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
	"k8s.io/apimachinery/pkg/api/resource"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What a variable may be filled from, as the API server of a cluster checks it
// in every Pod.
var (
	envFieldPaths = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}

	envResources = []string{
		"limits.cpu", "limits.memory", "limits.ephemeral-storage",
		"requests.cpu", "requests.memory", "requests.ephemeral-storage",
	}

	envResourceFamilies = []string{"limits.hugepages-", "requests.hugepages-"}

	cpuDivisors = []string{"1", "1m"}

	byteDivisors = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

// validateEnv holds variables to the rules for the environment of a container.
// Names are those that every supported cluster accepts, not the wider set of
// newer ones.
func validateEnv(env []corev1.EnvVar, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, variable := range env {
		at := path.Index(i)
		if variable.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), "name the variable"))
		} else {
			errs = append(errs, invalid(variable.Name, utilvalidation.IsEnvVarName(variable.Name), at.Child("name"))...)
		}
		if variable.ValueFrom != nil {
			errs = append(errs, validateEnvSource(variable.ValueFrom, variable.Value != "", at.Child("valueFrom"))...)
		}
	}
	return errs
}

// validateEnvSource wants exactly one source and no value beside it.
func validateEnvSource(source *corev1.EnvVarSource, hasValue bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	if ref := source.FieldRef; ref != nil {
		sources++
		errs = append(errs, validateFieldRef(ref, path.Child("fieldRef"))...)
	}
	if ref := source.ResourceFieldRef; ref != nil {
		sources++
		errs = append(errs, validateResourceFieldRef(ref, path.Child("resourceFieldRef"))...)
	}
	if ref := source.ConfigMapKeyRef; ref != nil {
		sources++
		errs = append(errs, validateObjectName(ref.Name, "a ConfigMap of this namespace", path.Child("configMapKeyRef", "name"))...)
		errs = append(errs, validateDataKey(ref.Key, "ConfigMap", path.Child("configMapKeyRef", "key"))...)
	}
	if ref := source.SecretKeyRef; ref != nil {
		sources++
		errs = append(errs, validateObjectName(ref.Name, "a Secret of this namespace", path.Child("secretKeyRef", "name"))...)
		errs = append(errs, validateDataKey(ref.Key, "Secret", path.Child("secretKeyRef", "key"))...)
	}
	if source.FileKeyRef != nil {
		sources++
		errs = append(errs, field.Forbidden(path.Child("fileKeyRef"), "refers to a volume of the Pod, which is not known here; use another source"))
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Required(path, "set one of fieldRef, resourceFieldRef, configMapKeyRef and secretKeyRef, or remove valueFrom"))
	case hasValue:
		errs = append(errs, field.Forbidden(path, "not allowed beside value; remove one of them"))
	case sources > 1:
		errs = append(errs, field.Forbidden(path, "has more than one source; keep one"))
	}
	return errs
}

// validateFieldRef allows the fields of a Pod that a container can be told, and
// single labels and annotations.
func validateFieldRef(ref *corev1.ObjectFieldSelector, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if ref.APIVersion != "" && ref.APIVersion != "v1" {
		errs = append(errs, field.NotSupported(path.Child("apiVersion"), ref.APIVersion, []string{"v1"}))
	}
	at := path.Child("fieldPath")
	if ref.FieldPath == "" {
		return append(errs, field.Required(at, "set it to a field of the Pod, such as metadata.name"))
	}
	parent, key, keyed := splitKey(ref.FieldPath)
	switch {
	case keyed && parent == "metadata.labels":
		return append(errs, invalid(ref.FieldPath, utilvalidation.IsQualifiedName(key), at)...)
	case keyed && parent == "metadata.annotations":
		return append(errs, invalid(ref.FieldPath, utilvalidation.IsQualifiedName(strings.ToLower(key)), at)...)
	case keyed || !slices.Contains(envFieldPaths, ref.FieldPath):
		return append(errs, field.NotSupported(at, ref.FieldPath,
			append([]string{"metadata.labels['<key>']", "metadata.annotations['<key>']"}, envFieldPaths...)))
	default:
		return errs
	}
}

// splitKey takes a path such as metadata.labels['app'] apart.
func splitKey(path string) (parent, key string, keyed bool) {
	rest, closed := strings.CutSuffix(path, "']")
	parent, key, opened := strings.Cut(rest, "['")
	return parent, key, closed && opened
}

func validateResourceFieldRef(ref *corev1.ResourceFieldSelector, path *field.Path) field.ErrorList {
	at := path.Child("resource")
	family := slices.ContainsFunc(envResourceFamilies, func(prefix string) bool { return strings.HasPrefix(ref.Resource, prefix) })
	switch {
	case ref.Resource == "":
		return field.ErrorList{field.Required(at, "set it to a request or a limit, such as limits.memory")}
	case !family && !slices.Contains(envResources, ref.Resource):
		return field.ErrorList{field.NotSupported(at, ref.Resource, append(slices.Clone(envResources), "limits.hugepages-<size>", "requests.hugepages-<size>"))}
	case ref.Divisor.Cmp(resource.Quantity{}) == 0:
		return nil
	}
	divisors := byteDivisors
	if strings.HasSuffix(ref.Resource, ".cpu") {
		divisors = cpuDivisors
	}
	if divisor := ref.Divisor.String(); !slices.Contains(divisors, divisor) {
		return field.ErrorList{field.Invalid(path.Child("divisor"), divisor,
			fmt.Sprintf("must be one of %s for %s", strings.Join(divisors, ", "), ref.Resource))}
	}
	return nil
}
