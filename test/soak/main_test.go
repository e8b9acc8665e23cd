//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"inferencecache.io/inference-cache/test/programs"
)

// What a run can be told, after -args. Some rounds are played in any case.
var (
	duration = flag.Duration("duration", 15*time.Second, "how long the soak goes on")
	seed     = flag.Uint64("seed", 0, "decides what is drawn, if not when it happens; 0 draws one")
)

// indexAddresses is the environment variable that makes this program a
// subscriber: the addresses that every host name has for it.
const indexAddresses = "SOAK_INDEX_ADDRESSES"

// binaries are the programs under test.
var binaries struct {
	server, subscriber string
	programs.Starting
}

func TestMain(m *testing.M) {
	if addresses := os.Getenv(indexAddresses); addresses != "" {
		if err := runSubscriber(strings.Split(addresses, ","), os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// The subscriber is this program.
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(programs.RunBuilt(func(dir string) int {
		binaries.server, binaries.subscriber = filepath.Join(dir, programs.APIServer), self
		return m.Run()
	}, programs.APIServer))
}
