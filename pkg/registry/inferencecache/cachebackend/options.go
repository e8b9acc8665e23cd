/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// badQuery turns what is wrong with the query of a virtual subresource into a
// bad request (400), or returns nil when nothing is. It is not an invalid object
// (422), as the client sent none.
func badQuery(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewBadRequest(errs.ToAggregate().Error())
}
