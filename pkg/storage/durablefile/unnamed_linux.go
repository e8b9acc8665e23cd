/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package durablefile

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a new file in dir that has no name. Not every file system can
// do that, and naming the file later takes /proc.
func openUnnamed(dir string, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	// The mask of the process applies to an open, and shall not to us.
	err = f.Chmod(mode)
	if err == nil {
		_, err = os.Stat(handle(f))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// linkUnnamed gives f a name that nobody has.
func linkUnnamed(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, handle(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &os.LinkError{Op: "link", Old: handle(f), New: path, Err: err}
	}
	return nil
}

// handle is the path of an open file that needs no name.
func handle(f *os.File) string {
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd())
}
