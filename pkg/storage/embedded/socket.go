/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path that fits into a socket address on every
// system we build for: sun_path is 104 bytes on the BSDs and macOS, 108 on
// Linux, one of them the terminating zero.
const maxSocketPath = 103

// socketDirectory makes a directory of mode 0700 for the client socket and
// returns the socket's path. It is <dir>/run when that can be dialled, else a fresh directory below the system's temporary one: any data
// directory must work, and changing the working directory would move
// everything else in the process. <dir>/run then has a link to the socket, so that
// another process finds it. remove deletes what was made.
func socketDirectory(dir string) (path string, remove func() error, err error) {
	run := filepath.Join(dir, runDir)
	// What a killed process has left may be a link to a socket that is gone.
	if err := os.RemoveAll(run); err != nil {
		return "", nil, fmt.Errorf("clear socket directory: %w", err)
	}
	if err := os.Mkdir(run, dirMode); err != nil {
		return "", nil, fmt.Errorf("make socket directory: %w", err)
	}
	link := filepath.Join(run, socketFile)
	if checkSocketPath(link) == nil {
		return link, func() error { return os.RemoveAll(run) }, nil
	}
	temp, err := os.MkdirTemp("", "inference-cache-")
	if err != nil {
		return "", nil, fmt.Errorf("make socket directory: %w", err)
	}
	remove = func() error { return errors.Join(os.RemoveAll(run), os.RemoveAll(temp)) }
	path = filepath.Join(temp, socketFile)
	if err := checkSocketPath(path); err != nil {
		return "", nil, errors.Join(remove(), fmt.Errorf("%w; change the data directory or TMPDIR", err))
	}
	if err := os.Symlink(path, link); err != nil {
		return "", nil, errors.Join(remove(), fmt.Errorf("link to socket: %w", err))
	}
	return path, remove, nil
}

// findSocket returns the socket of the server that runs on dir, in a form that can
// be dialled.
func findSocket(dir string) (string, error) {
	path := filepath.Join(dir, runDir, socketFile)
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		path, err = os.Readlink(path)
	}
	if err != nil {
		return "", fmt.Errorf("find socket: %w", err)
	}
	if err := checkSocketPath(path); err != nil {
		return "", fmt.Errorf("%w; reach the data directory by another path, such as a link", err)
	}
	return path, nil
}

// checkSocketPath returns why a path cannot be dialled: it is too long for an address,
// or has characters that mean something else in the URLs that etcd's client takes.
func checkSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("socket path %s is longer than %d bytes", path, maxSocketPath)
	}
	if u, err := url.Parse("unix://" + path); err != nil || u.Path != path {
		return fmt.Errorf("socket path %s has characters that mean something else in a URL", path)
	}
	return nil
}
