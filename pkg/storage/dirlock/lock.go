/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dirlock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// FileName is the file inside the directory that is locked. It stays when nobody
// holds the lock.
const FileName = "lock"

// maxHolderBytes bounds what is read of a lock file, which anybody may have
// written to.
const maxHolderBytes = 512

// InUseError says that another server runs on the data directory.
type InUseError struct {
	// Dir is the contended data directory.
	Dir string
	// Holder names the process that holds it, for example "pid 4711 on host-a".
	// It is empty when the holder has not written its name yet.
	Holder string
}

// Error implements error.
func (e *InUseError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "pid unknown"
	}
	return fmt.Sprintf("data directory %s is in use by another server (%s)", e.Dir, holder)
}

// Lock is a held lock.
type Lock struct {
	file *os.File
}

// Acquire takes the lock of dir, which must exist, or returns an *InUseError. It
// never waits: a second server is a mistake of configuration, and waiting would
// hide it.
func Acquire(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of data directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &InUseError{Dir: dir, Holder: readHolder(f)}
		}
		return nil, fmt.Errorf("lock data directory %s: %w", dir, err)
	}
	if err := writeHolder(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("write holder of data directory %s: %w", dir, err)
	}
	return &Lock{file: f}, nil
}

// Release gives the directory up. The file stays: removing it would let two
// processes lock two different files of the same name.
func (l *Lock) Release() error {
	return l.file.Close()
}

func writeHolder(f *os.File) error {
	// The host is named because a pid alone misleads when the directory is a
	// volume that two machines or two containers mount.
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "pid %d on %s\n", os.Getpid(), host), 0)
	return err
}

func readHolder(r io.Reader) string {
	b, err := io.ReadAll(io.LimitReader(r, maxHolderBytes))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return line
}
