/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePodAffinity serves affinity and anti-affinity, which have the same
// shape.
func validatePodAffinity(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, term := range required {
		errs = append(errs, validatePodTerm(term, path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))...)
	}
	for i, weighted := range preferred {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		errs = append(errs, validateWeight(weighted.Weight, at.Child("weight"))...)
		errs = append(errs, validatePodTerm(weighted.PodAffinityTerm, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodTerm(term corev1.PodAffinityTerm, path *field.Path) field.ErrorList {
	errs := validateTopologyKey(term.TopologyKey, path.Child("topologyKey"))
	errs = append(errs, validateSelector(term.LabelSelector, path.Child("labelSelector"))...)
	errs = append(errs, validateSelector(term.NamespaceSelector, path.Child("namespaceSelector"))...)
	for i, namespace := range term.Namespaces {
		errs = append(errs, invalid(namespace, apimachineryvalidation.ValidateNamespaceName(namespace, false), path.Child("namespaces").Index(i))...)
	}
	errs = append(errs, validateMatchLabelKeys(term.MatchLabelKeys, term.LabelSelector, path.Child("matchLabelKeys"))...)
	errs = append(errs, validateLabelKeys(term.MismatchLabelKeys, term.LabelSelector, path.Child("mismatchLabelKeys"))...)
	for i, key := range term.MismatchLabelKeys {
		if slices.Contains(term.MatchLabelKeys, key) {
			errs = append(errs, field.Invalid(path.Child("mismatchLabelKeys").Index(i), key, "is in matchLabelKeys too; remove it from one of them"))
		}
	}
	return errs
}

func validateTopologyKey(key string, path *field.Path) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "set it to a label of nodes, such as kubernetes.io/hostname")}
	}
	return metav1validation.ValidateLabelName(key, path)
}

func validateSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

// validateMatchLabelKeys also refuses a key that is given twice, here or in the
// selector: a cluster adds each key to the selector, where it must be alone.
func validateMatchLabelKeys(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	errs := validateLabelKeys(keys, selector, path)
	errs = append(errs, validateDistinct(keys, itself, path)...)
	for i, key := range keys {
		if selector != nil && selectsBy(selector, key) {
			errs = append(errs, field.Invalid(path.Index(i), key, "is in labelSelector too; remove it from one of them"))
		}
	}
	return errs
}

func validateLabelKeys(keys []string, selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if selector == nil {
		return field.ErrorList{field.Forbidden(path, "only allowed with labelSelector; add one or remove it")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metav1validation.ValidateLabelName(key, path.Index(i))...)
	}
	return errs
}

func selectsBy(selector *metav1.LabelSelector, key string) bool {
	if _, found := selector.MatchLabels[key]; found {
		return true
	}
	return slices.ContainsFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool { return r.Key == key })
}
