/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestExplain(t *testing.T) {
	other := errors.New("other")
	tests := map[string]struct {
		err    error
		reason metav1.StatusReason
	}{
		"none":                           {},
		"full":                           {err: rpctypes.ErrNoSpace, reason: ReasonStorageFull},
		"full, as etcd's client says it": {err: rpctypes.Error(rpctypes.ErrGRPCNoSpace), reason: ReasonStorageFull},
		"full for reservations":          {err: fmt.Errorf("take a guard: %w", rpctypes.ErrNoSpace), reason: ReasonStorageFull},
		"other of etcd":                  {err: rpctypes.ErrTooManyRequests},
		"other":                          {err: other},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := explain(tc.err)
			if tc.reason == "" {
				if !errors.Is(got, tc.err) {
					t.Errorf("got %v, want %v unchanged", got, tc.err)
				}
				return
			}
			status, ok := errors.AsType[*apierrors.StatusError](got)
			if !ok || status.Status().Code != http.StatusInsufficientStorage || status.Status().Reason != tc.reason {
				t.Errorf("got %v, want status %d with reason %s", got, http.StatusInsufficientStorage, tc.reason)
			}
		})
	}
}
