/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path that fits into a socket address on every
// system we build for: sun_path is 104 bytes on the BSDs and macOS, 108 on
// Linux, one of them the terminating zero.
const maxSocketPath = 103

// socketDirectory makes a directory of mode 0700 for the client socket and
// returns the socket's path. It is <dir>/run when that fits into a socket
// address, else a fresh directory below the system's temporary one: a long data
// directory must work, and changing the working directory would move
// everything else in the process. remove deletes what was made.
func socketDirectory(dir string) (path string, remove func() error, err error) {
	run := filepath.Join(dir, runDir)
	path = filepath.Join(run, socketFile)
	if len(path) <= maxSocketPath {
		if err := os.MkdirAll(run, dirMode); err != nil {
			return "", nil, fmt.Errorf("make socket directory: %w", err)
		}
		// The directory may be older than this process; its mode must hold.
		if err := os.Chmod(run, dirMode); err != nil {
			return "", nil, fmt.Errorf("restrict socket directory: %w", err)
		}
		return path, func() error { return os.RemoveAll(run) }, nil
	}
	run, err = os.MkdirTemp("", "inference-cache-")
	if err != nil {
		return "", nil, fmt.Errorf("make socket directory: %w", err)
	}
	path = filepath.Join(run, socketFile)
	if len(path) > maxSocketPath {
		os.Remove(run)
		return "", nil, fmt.Errorf("socket path %s is longer than %d bytes; shorten the data directory or TMPDIR", path, maxSocketPath)
	}
	return path, func() error { return os.RemoveAll(run) }, nil
}
