/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/warning"
)

// warnings collects warning headers.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

func TestLimitResolve(t *testing.T) {
	tests := map[string]struct {
		asked    int64
		want     int64
		warnings int
		refused  bool
	}{
		"not asked":     {want: 10},
		"within bounds": {asked: 3, want: 3},
		"the most":      {asked: 100, want: 100},
		"too many":      {asked: 101, want: 100, warnings: 1},
		"negative":      {asked: -1, refused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var recorded warnings
			ctx := warning.WithWarningRecorder(t.Context(), &recorded)
			got, err := Limit{Default: 10, Max: 100}.Resolve(ctx, test.asked)
			if test.refused {
				if !apierrors.IsBadRequest(err) {
					t.Fatalf("got %d, %v, want a bad request", got, err)
				}
				return
			}
			if err != nil || got != test.want || len(recorded) != test.warnings {
				t.Errorf("got %d, %v with warnings %q, want %d with %d warnings", got, err, recorded, test.want, test.warnings)
			}
		})
	}
}

func TestAPIError(t *testing.T) {
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, "a")
	tests := map[string]struct {
		err  error
		want func(error) bool
	}{
		"status passes":         {err: gone, want: apierrors.IsNotFound},
		"wrapped status passes": {err: fmt.Errorf("reading: %w", gone), want: apierrors.IsNotFound},
		"invalid continue":      {err: fmt.Errorf("x: %w", ErrInvalidContinue), want: apierrors.IsBadRequest},
		"expired continue":      {err: ErrExpiredContinue, want: apierrors.IsResourceExpired},
		"deadline":              {err: context.DeadlineExceeded, want: apierrors.IsTimeout},
		"anything else":         {err: errors.New("broken"), want: apierrors.IsInternalError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := APIError(test.err); !test.want(got) {
				t.Errorf("APIError(%v) = %v", test.err, got)
			}
		})
	}
}

// getter is a parent store that knows one object.
type getter struct{ known *metav1.PartialObjectMetadata }

func (g getter) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if name != g.known.Name {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "parents"}, name)
	}
	return g.known, nil
}

func TestParent(t *testing.T) {
	known := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Namespace: "ns", UID: "uid", ResourceVersion: "5", Labels: map[string]string{"k": "v"},
	}}
	parents := NewParent(getter{known: known})
	if _, err := parents.Get(t.Context(), "b"); !apierrors.IsNotFound(err) {
		t.Errorf("unknown parent: %v, want not found", err)
	}
	parent, err := parents.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	answer := Meta(parent)
	if answer.Name != "a" || answer.Namespace != "ns" || answer.UID != "uid" || answer.ResourceVersion != "" {
		t.Errorf("metadata of the answer is %+v", answer)
	}
}
