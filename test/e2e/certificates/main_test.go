//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"flag"
	"os"
	"testing"
	"time"

	"inferencecache.io/inference-cache/test/aggregated"
)

// Lives of what the servers make: the shortest that they accept.
const (
	leafLife = 10 * time.Second
	caLife   = 4 * leafLife
)

// environment is shared by all tests.
var environment *aggregated.Environment

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(aggregated.Run(func(e *aggregated.Environment) int {
		environment = e
		return m.Run()
	}, aggregated.Options{
		Strict: true, Replicas: 2, Args: []string{"--certificate-lifetime=" + leafLife.String(), "--ca-lifetime=" + caLife.String()},
	}, 0))
}
