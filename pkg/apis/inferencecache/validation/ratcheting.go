/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// introduced returns the violations of an updated object that the stored one does
// not have already. Two are the same when type, field, bad value and detail
// agree: another bad value at the same field is a new violation.
func introduced(updated, stored field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, err := range updated {
		if !contains(stored, err) {
			errs = append(errs, err)
		}
	}
	return errs
}

func contains(errs field.ErrorList, wanted *field.Error) bool {
	for _, err := range errs {
		if err.Type == wanted.Type && err.Field == wanted.Field && err.Detail == wanted.Detail &&
			reflect.DeepEqual(err.BadValue, wanted.BadValue) {
			return true
		}
	}
	return false
}
