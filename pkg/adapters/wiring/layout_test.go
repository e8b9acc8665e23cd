/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"testing"
)

func TestLayout(t *testing.T) {
	flags := []LayoutFlag{{Names: []string{"model"}}, {Names: []string{"block-size"}}, {Names: []string{"tensor-parallel-size", "tp"}, Default: "1"}}
	tests := map[string]struct {
		args        []string
		underscores bool
		want        string
	}{
		"nothing":                       {},
		"in the order of the flags":     {args: []string{"--block-size", "16", "--model=/m"}, want: "model=/m block-size=16"},
		"the last counts":               {args: []string{"--block-size", "16", "--block-size=32"}, want: "block-size=32"},
		"a default is not given":        {args: []string{"--tensor-parallel-size", "1"}},
		"a default after another value": {args: []string{"-tp", "2", "-tp=1"}},
		"another name":                  {args: []string{"-tp", "2"}, want: "tensor-parallel-size=2"},
		"underscores are dashes":        {args: []string{"--block_size", "16"}, underscores: true, want: "block-size=16"},
		"underscores are not":           {args: []string{"--block_size", "16"}},
		"other flags and their values":  {args: []string{"--port", "8000", "model", "--served-model-name=model"}},
		"a value that is missing":       {args: []string{"--block-size"}},
		"a value is no flag":            {args: []string{"--model", "--block-size", "16"}, want: "model=--block-size"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Layout(tc.args, flags, tc.underscores); got != tc.want {
				t.Errorf("layout %q, want %q", got, tc.want)
			}
		})
	}
}
