/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// RunBuilt builds the named programs, runs tests with the directory that has
// them, and removes it. It returns the exit code for TestMain and shows what went
// wrong otherwise.
func RunBuilt(tests func(dir string) int, names ...string) int {
	code, err := runBuilt(tests, names)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func runBuilt(tests func(dir string) int, names []string) (code int, err error) {
	dir, err := os.MkdirTemp("", "inference-cache-programs-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := Build(context.Background(), dir, names...); err != nil {
		return 0, err
	}
	return tests(dir), nil
}
