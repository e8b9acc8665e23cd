//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated_test

import (
	"flag"
	"os"
	"testing"

	"inferencecache.io/inference-cache/test/aggregated"
)

// environment is shared by all tests of this package.
var environment *aggregated.Environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(aggregated.Run(func(e *aggregated.Environment) int {
		environment = e
		return m.Run()
	}, aggregated.Options{Replicas: 2}, 0))
}

// TestLives ends replicas in both ways and starts them again; the cluster follows.
func TestLives(t *testing.T) {
	ctx := t.Context()
	i := environment.Installation
	for name, test := range map[string]struct {
		replica int
		end     func(*aggregated.Replica) error
	}{
		"stopped": {replica: 0, end: func(r *aggregated.Replica) error { return r.Stop(ctx) }},
		"killed":  {replica: 1, end: (*aggregated.Replica).Kill},
	} {
		t.Run(name, func(t *testing.T) {
			r := i.Replicas()[test.replica]
			if err := test.end(r); err != nil {
				t.Fatal(err)
			}
			if err := test.end(r); err == nil {
				t.Error("it ended twice")
			}
			if err := r.Start(ctx); err != nil {
				t.Fatal(err)
			}
			if err := r.Start(ctx); err == nil {
				t.Error("it runs twice")
			}
		})
	}
	if err := i.Await(ctx); err != nil {
		t.Fatal(err)
	}
}
