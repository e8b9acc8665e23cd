//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated_test

import (
	"flag"
	"fmt"
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

func TestLives(t *testing.T) {
	ctx := t.Context()
	i := environment.Installation
	for n, end := range map[int]func(*aggregated.Replica) error{
		0: func(r *aggregated.Replica) error { return r.Stop(ctx) },
		1: func(r *aggregated.Replica) error { return r.Kill() },
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := i.Replicas()[n]
			if err := end(r); err != nil {
				t.Fatal(err)
			}
			if err := r.Start(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := i.Await(ctx); err != nil {
		t.Fatal(err)
	}
}
