/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"io"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/version"
)

func TestCommand(t *testing.T) {
	required := []string{
		"--replica-id=pod-0", "--tenant-id=team-a", "--model-id=m", "--metrics-bind-address=127.0.0.1:0",
		"--engine-endpoint=tcp://127.0.0.1:1", "--engine-metrics-url=", "--server=127.0.0.1:1",
	}
	tests := map[string]struct {
		args []string
		// want is part of the error; empty means that it runs until it is stopped.
		want string
	}{
		"runs":              {args: required},
		"short verbosity":   {args: append([]string{"-v=2"}, required...)},
		"nothing is given":  {want: "--model-id"},
		"an argument":       {args: append([]string{"engine"}, required...), want: "unknown command"},
		"an unknown flag":   {args: []string{"--no-such-flag"}, want: "no-such-flag"},
		"an address in use": {args: append(required, "--metrics-bind-address=192.0.2.1:1"), want: "--metrics-bind-address"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			command := New()
			command.SetArgs(append([]string{}, tc.args...))
			command.SetOut(io.Discard)
			command.SetErr(io.Discard)
			err := command.ExecuteContext(ctx)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("ended with %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	var out strings.Builder
	command := New()
	command.SetArgs([]string{"--version"})
	command.SetOut(&out)
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	if want := "kvevent-subscriber version " + version.Describe() + "\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
