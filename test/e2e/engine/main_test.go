//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"inferencecache.io/inference-cache/test/programs"
)

// What a run can be told, after -args.
var (
	duration = flag.Duration("duration", 10*time.Minute, "how long all models together are driven")
	seed     = flag.Uint64("seed", 0, "decides everything that is drawn; 0 draws one")
)

// binaries are the programs under test.
var binaries struct {
	server, subscriber, vllm string
	programs.Starting
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runAll builds our programs and runs the tests.
func runAll(m *testing.M) (code int, err error) {
	if binaries.vllm = os.Getenv("VLLM"); binaries.vllm == "" {
		return 0, errors.New("VLLM does not name the engine's program; make e2e-engine installs it and runs this")
	}
	dir, err := os.MkdirTemp("", "inference-cache-e2e-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := programs.Build(context.Background(), dir, programs.APIServer, programs.Subscriber); err != nil {
		return 0, err
	}
	binaries.server, binaries.subscriber = filepath.Join(dir, programs.APIServer), filepath.Join(dir, programs.Subscriber)
	return m.Run(), nil
}

// interruptible ends with the test and with what a terminal sends. An engine has
// a process group of its own, which is only killed if the test ends in order.
func interruptible(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	return ctx
}
