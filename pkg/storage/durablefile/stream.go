/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package durablefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file in the making. It appears under its name with Commit, and not at
// all when the process ends before. It is not safe for concurrent use.
type File struct {
	file    *os.File
	path    string
	replace bool
	// temporary is the name of the file until it has its own. It is empty where
	// the system can do without.
	temporary string
}

// Create begins a file that will be called path, with the given permissions. Unless
// replace is set, a file of that name is an error that is fs.ErrExist, here and, when
// it comes later, in Commit. The caller ends with Commit or Discard.
//
// On Linux the file has no name at all until Commit, on the file systems that can do
// that. Elsewhere it is called like path with a random ending, and a process that is
// killed leaves it behind.
func Create(path string, mode os.FileMode, replace bool) (*File, error) {
	if !replace {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = fs.ErrExist
			}
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	}
	f := &File{path: path, replace: replace}
	var err error
	if f.file, err = openUnnamed(filepath.Dir(path), mode); err == nil {
		return f, nil
	}
	if err := f.openNamed(mode); err != nil {
		return nil, err
	}
	return f, nil
}

// openNamed is for where a file needs a name.
func (f *File) openNamed(mode os.FileMode) error {
	var err error
	if f.file, err = os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".*"); err != nil {
		return fmt.Errorf("create %s: %w", f.path, err)
	}
	f.temporary = f.file.Name()
	if err := f.file.Chmod(mode); err != nil {
		return errors.Join(fmt.Errorf("create %s: %w", f.path, err), f.Discard())
	}
	return nil
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	return f.file.Write(p)
}

// Commit gives the file its name. It returns when content and name are on disk.
// After an error there is no new file, or one whose name a power cut may undo.
func (f *File) Commit() error {
	err := f.file.Sync()
	if err == nil {
		err = f.publish()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.path, err), f.Discard())
	}
	if err := errors.Join(f.Discard(), syncDir(filepath.Dir(f.path))); err != nil {
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// publish gives the file its name in one step.
func (f *File) publish() error {
	if f.temporary == "" {
		if !f.replace {
			return linkUnnamed(f.file, f.path)
		}
		// A link cannot replace, a rename can.
		f.temporary = f.path + "." + rand.Text()
		if err := linkUnnamed(f.file, f.temporary); err != nil {
			return err
		}
	}
	if f.replace {
		return os.Rename(f.temporary, f.path)
	}
	err := os.Link(f.temporary, f.path)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// A file system without links. Nothing there refuses to replace, so a file that
	// somebody makes at this very moment is lost.
	if _, err := os.Lstat(f.path); err == nil {
		return fs.ErrExist
	}
	return os.Rename(f.temporary, f.path)
}

// Discard ends the making of a file without it. After Commit it does nothing.
func (f *File) Discard() error {
	err := f.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if f.temporary != "" {
		if removeErr := os.Remove(f.temporary); err == nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = removeErr
		}
	}
	return err
}
