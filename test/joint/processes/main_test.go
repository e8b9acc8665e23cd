/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"inferencecache.io/inference-cache/test/programs"
)

// binaries are the programs under test.
var binaries struct {
	server, subscriber string
	programs.Starting
}

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runAll builds the programs and runs the tests.
func runAll(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "inference-cache-processes-")
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
