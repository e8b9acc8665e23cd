/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"slices"
	"strings"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// validateObjectName refuses what cannot be the name of an object of the kinds
// that a Pod refers to. what says what is to be named when there is no name.
func validateObjectName(name, what string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "name "+what)}
	}
	return invalid(name, apimachineryvalidation.NameIsDNSSubdomain(name, false), path)
}

// validateDataKey refuses what cannot be a key of a Secret or ConfigMap.
func validateDataKey(key, owner string, path *field.Path) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(path, "name a key of the "+owner)}
	}
	return invalid(key, utilvalidation.IsConfigMapKey(key), path)
}

// validateManagedName holds the name of a backend with a managed store to what
// the Service of the store, which bears the same name, may be called.
func validateManagedName(backend *inferencecache.CacheBackend, path *field.Path) field.ErrorList {
	storage := backend.Spec.RemoteStorage
	if storage == nil || storage.Ownership != inferencecache.StorageOwnershipManaged || eventsOnly(&backend.Spec) {
		return nil
	}
	messages := utilvalidation.IsDNS1035Label(backend.Name)
	for i := range messages {
		messages[i] = "names the Service of the managed store too: " + messages[i]
	}
	return invalid(backend.Name, messages, path)
}

// validateLabels refuses what cannot be labels. The check that Kubernetes has goes
// through the map at random; clients are answered alike each time.
func validateLabels(labels map[string]string, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(labels, path)
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// invalid turns the messages of a Kubernetes check into violations.
func invalid(value string, messages []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}
