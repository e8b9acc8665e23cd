/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// compactionKey is what the API server's library writes beside every storage, so it
// tells nothing about whose storage it is.
const compactionKey = "compact_rev_key"

// inspect returns what is in a snapshot, or why it cannot be restored: it is damaged,
// is of a later etcd, or has only keys of others. It changes nothing.
func inspect(path, prefix string) (found snapshot.Status, err error) {
	size, err := checkFile(path)
	if err != nil {
		return snapshot.Status{}, err
	}
	// A file with a right checksum can still be no database. bbolt then follows
	// numbers into memory that is not there.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is not a database of an etcd: %v", r)
		}
	}()
	owned, err := owns(path, size, prefix)
	if err != nil {
		return snapshot.Status{}, err
	}
	if !owned {
		return snapshot.Status{}, fmt.Errorf("it is a snapshot of another etcd: it has no key below %s", prefix)
	}
	found, err = snapshot.NewV3(zap.NewNop()).Status(path)
	if err != nil {
		return snapshot.Status{}, fmt.Errorf("its database is damaged: %w", err)
	}
	if later(found.Version, version.Version) {
		return snapshot.Status{}, fmt.Errorf("it is of etcd %s, and this program has etcd %s; restore it with the release that saved it", found.Version, version.Version)
	}
	return found, nil
}

// checkFile reads a snapshot to its end, compares its checksum and returns the size of
// the database in it.
func checkFile(path string) (size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("it is not a regular file")
	}
	seal := newSeal()
	if _, err := io.Copy(seal, f); err != nil {
		return 0, err
	}
	return seal.size - sealSize, seal.check()
}

// owns reports whether a database of that size is one of ours: it has a key below
// prefix, or none that anybody could miss.
func owns(path string, size int64, prefix string) (owned bool, err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return false, fmt.Errorf("it is not a database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	foreign := false
	err = db.View(func(tx *bbolt.Tx) error {
		// What lies beyond the end of the file is mapped, and must not be touched.
		if tx.Size() > size {
			return fmt.Errorf("its database has %d bytes and should have %d", size, tx.Size())
		}
		bucket := tx.Bucket(schema.Key.Name())
		if bucket == nil {
			return errors.New("it is not a database of an etcd: it has no keys")
		}
		cursor := bucket.Cursor()
		for revision, value := cursor.First(); revision != nil && !owned; revision, value = cursor.Next() {
			var kv mvccpb.KeyValue
			if err := proto.Unmarshal(value, &kv); err != nil {
				return fmt.Errorf("its database is damaged: %w", err)
			}
			key := string(kv.GetKey())
			owned = strings.HasPrefix(key, prefix)
			// A revision that a restore has added has no key.
			foreign = foreign || (key != "" && key != compactionKey)
		}
		return nil
	})
	return owned || !foreign, err
}

// later reports whether version a is of a later minor release than b. What is no
// version is not later: etcd has not always written one.
func later(a, b string) bool {
	var major, minor, otherMajor, otherMinor int
	if n, _ := fmt.Sscanf(a, "%d.%d", &major, &minor); n != 2 {
		return false
	}
	if n, _ := fmt.Sscanf(b, "%d.%d", &otherMajor, &otherMinor); n != 2 {
		return false
	}
	return major > otherMajor || (major == otherMajor && minor > otherMinor)
}
