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

// validateTemplate holds the overrides of a managed store's Pods to the rules of
// a Pod template, so that what is accepted here is never refused when the
// workload is made.
func validateTemplate(template *inferencecache.PodTemplateOverrides, store *Store, path *field.Path) field.ErrorList {
	if template == nil {
		return nil
	}
	errs := validateLabels(template.NodeSelector, path.Child("nodeSelector"))
	errs = append(errs, validateAffinity(template.Affinity, path.Child("affinity"))...)
	errs = append(errs, validateTolerations(template.Tolerations, path.Child("tolerations"))...)
	errs = append(errs, validateTopologySpread(template.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))...)
	errs = append(errs, validatePullSecrets(template.ImagePullSecrets, path.Child("imagePullSecrets"))...)
	errs = append(errs, validatePodSecurityContext(template.SecurityContext, store, path.Child("securityContext"))...)
	errs = append(errs, validatePodNames(template, path)...)
	return append(errs, validateAtLeast(template.TerminationGracePeriodSeconds, 0, path.Child("terminationGracePeriodSeconds"))...)
}

func validatePullSecrets(secrets []corev1.LocalObjectReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, secret := range secrets {
		errs = append(errs, validateObjectName(secret.Name, "a Secret of this namespace", path.Index(i).Child("name"))...)
	}
	return append(errs, validateDistinct(secrets, func(secret corev1.LocalObjectReference) string { return secret.Name }, path, "name")...)
}

// validatePodNames holds the names that a Pod refers to by to the form of those
// names. That the objects exist is not known here.
func validatePodNames(template *inferencecache.PodTemplateOverrides, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name := template.ServiceAccountName; name != "" {
		errs = append(errs, validateObjectName(name, "", path.Child("serviceAccountName"))...)
	}
	if name := template.PriorityClassName; name != "" {
		errs = append(errs, validateObjectName(name, "", path.Child("priorityClassName"))...)
	}
	if name := template.SchedulerName; strings.TrimSpace(name) != name {
		errs = append(errs, field.Invalid(path.Child("schedulerName"), name, "must not begin or end with a blank; remove it"))
	}
	if name := template.RuntimeClassName; name != nil {
		errs = append(errs, validateObjectName(*name, "a RuntimeClass, or leave it out", path.Child("runtimeClassName"))...)
	}
	return errs
}
