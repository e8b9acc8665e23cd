/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// databaseFile is where etcd keeps its database below its own directory.
var databaseFile = filepath.Join("member", "snap", "db")

// checkDatabase opens the database for reading, as far as it takes to see whether
// it can be opened. etcd opens it in a goroutine of its own and panics when it
// cannot, or is killed by the system when the file ends early.
func checkDatabase(dir string) (err error) {
	path := filepath.Join(dir, databaseFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at database: %w", err)
	}
	damaged := func(what any) error {
		return fmt.Errorf("the database %s is damaged (%v); restore the data directory from a copy, or move it away to start empty", path, what)
	}
	defer func() {
		if r := recover(); r != nil {
			err = damaged(r)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return damaged(err)
	}
	// A file that ends early is mapped all the same; what lies beyond its end must
	// not be touched.
	err = db.View(func(tx *bbolt.Tx) error {
		if size := tx.Size(); size > info.Size() {
			return damaged(fmt.Sprintf("it has %d bytes and should have %d", info.Size(), size))
		}
		return nil
	})
	return errors.Join(err, db.Close())
}
