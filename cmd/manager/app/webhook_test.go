/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import "testing"

func TestHasNativeSidecars(t *testing.T) {
	tests := map[string]struct {
		answer string
		want   bool
		fails  bool
	}{
		"new":               {answer: `{"gitVersion":"v1.37.2"}`, want: true},
		"the first":         {answer: `{"gitVersion":"v1.29.0-eks-abc"}`, want: true},
		"before":            {answer: `{"gitVersion":"v1.28.15"}`},
		"of a distribution": {answer: `{"gitVersion":"v1.36.1+k3s1"}`, want: true},
		"no version":        {answer: `{}`, fails: true},
		"not the cluster's": {answer: `<html>`, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := hasNativeSidecars([]byte(tc.answer))
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
}
