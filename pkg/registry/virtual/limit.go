/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/warning"
)

// Limit bounds how many entries one virtual answer holds.
type Limit struct {
	// Default is used when the client names none.
	Default int64
	// Max is the most that one answer ever holds.
	Max int64
}

// Resolve returns the limit to use for what a client asked: zero takes the
// default, as with the limit of a list. A negative number is a bad request
// (400). A number above Max is clamped, and the client gets a warning header
// that says so.
func (l Limit) Resolve(ctx context.Context, asked int64) (int64, error) {
	switch {
	case asked == 0:
		return l.Default, nil
	case asked < 0:
		return 0, apierrors.NewBadRequest(fmt.Sprintf("limit: invalid value %d: must not be negative", asked))
	case asked > l.Max:
		warning.AddWarning(ctx, "", fmt.Sprintf("limit: %d is more than one answer holds, using %d", asked, l.Max))
		return l.Max, nil
	default:
		return asked, nil
	}
}
