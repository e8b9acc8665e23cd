/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// lock makes sure that one up or down at a time works on a directory, and makes
// the directory if it is missing. It never waits. Closing what it returns, or the
// end of the process, gives the directory up.
func lock(dir string) (*os.File, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		file, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a down has just removed it
		}
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = errors.New("another up or down is at work on it")
			}
			return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), file.Close())
		}
		// A down may have removed the directory between the two calls; then this
		// is the lock of a directory that nobody else can find.
		held, heldErr := file.Stat()
		named, namedErr := os.Stat(dir)
		if heldErr == nil && namedErr == nil && os.SameFile(held, named) {
			return file, nil
		}
		if err := errors.Join(heldErr, file.Close()); err != nil {
			return nil, err
		}
	}
}
