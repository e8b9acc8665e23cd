//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"inferencecache.io/inference-cache/test/programs"
)

// duration is how long the load goes on; some rounds are played in any case.
var duration = flag.Duration("duration", 15*time.Second, "how long the soak goes on")

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
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runAll builds the server and runs the tests. The subscriber is this program.
func runAll(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "inference-cache-soak-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := programs.Build(context.Background(), dir, programs.APIServer); err != nil {
		return 0, err
	}
	binaries.server = filepath.Join(dir, programs.APIServer)
	if binaries.subscriber, err = os.Executable(); err != nil {
		return 0, err
	}
	return m.Run(), nil
}
