/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Errors that sources of live data return, so that they need not know the API.
var (
	// ErrInvalidContinue says that a continue token was not made by this API.
	ErrInvalidContinue = errors.New("invalid continue token")
	// ErrExpiredContinue says that what a continue token refers to is gone.
	ErrExpiredContinue = errors.New("expired continue token")
)

// APIError turns the error of a source into an API error. API errors pass as
// they are, without what wraps them, since the endpoint looks at the outermost
// error only. The errors of this package and of an ended context get their
// status, everything else is an internal error. err must not be nil.
func APIError(err error) *apierrors.StatusError {
	var status *apierrors.StatusError
	switch {
	case errors.As(err, &status):
		return status
	case errors.Is(err, ErrInvalidContinue):
		return apierrors.NewBadRequest(fmt.Sprintf("continue: %v", err))
	case errors.Is(err, ErrExpiredContinue):
		return apierrors.NewResourceExpired(fmt.Sprintf("continue: %v", err))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return apierrors.NewTimeoutError("the live data did not answer in time", 1)
	default:
		return apierrors.NewInternalError(err)
	}
}
