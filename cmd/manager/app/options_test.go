/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		args []string
		// want are parts of the error; none means that they are valid.
		want []string
	}{
		"defaults":        {},
		"metrics are off": {args: []string{"--metrics-bind-address=0"}},
		"profiles are on": {args: []string{"--pprof-bind-address=127.0.0.1:6060"}},
		"no namespace":    {args: []string{"--namespace="}, want: []string{"--namespace must be given"}},
		"nobody works":    {args: []string{"--concurrency=0"}, want: []string{"--concurrency is 0"}},
		"all at once": {
			args: []string{"--metrics-bind-address=x", "--health-probe-bind-address=y", "--pprof-bind-address=z", "--concurrency=-1"},
			want: []string{"--metrics-bind-address: ", "--health-probe-bind-address: ", "--pprof-bind-address: ", "--concurrency is -1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
			options.AddFlags(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			err := options.Validate()
			if err == nil {
				if len(tc.want) > 0 {
					t.Errorf("no error, want %q", tc.want)
				}
				return
			}
			if len(tc.want) == 0 {
				t.Errorf("got the error %v", err)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q has no %q", err, part)
				}
			}
		})
	}
}

// TestCommand holds that mistakes are told before anything is done.
func TestCommand(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an argument":     {args: []string{"now"}, want: "unknown command"},
		"an unknown flag": {args: []string{"--no-such-flag"}, want: "no-such-flag"},
		"a wrong flag":    {args: []string{"--concurrency=0"}, want: "--concurrency"},
		"no kubeconfig":   {args: []string{"--kubeconfig=/does/not/exist"}, want: "/does/not/exist"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			command := New()
			command.SetArgs(tc.args)
			command.SetOut(new(strings.Builder))
			command.SetErr(new(strings.Builder))
			if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got the error %v, want one with %q", err, tc.want)
			}
		})
	}
}
