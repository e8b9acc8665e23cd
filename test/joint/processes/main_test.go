/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
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
	os.Exit(programs.RunBuilt(func(dir string) int {
		binaries.server, binaries.subscriber = filepath.Join(dir, programs.APIServer), filepath.Join(dir, programs.Subscriber)
		return m.Run()
	}, programs.APIServer, programs.Subscriber))
}
