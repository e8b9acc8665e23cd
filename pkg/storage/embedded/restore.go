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
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/sets"

	"inferencecache.io/inference-cache/pkg/storage/dirlock"
)

const (
	// revisionBump is added to the revision of what is restored, so that the
	// revisions that clients have seen after the snapshot was taken lie in the past
	// and are not given a second time. It is what etcd's documentation suggests, a
	// week of 1,500 writes in a second; an int64 has room for billions of restores.
	revisionBump = 1_000_000_000

	// stagingDir is where a directory is made before it becomes etcdDir.
	stagingDir = etcdDir + ".restoring"
)

// nothing lists what a directory may have and still count as empty: what a new
// volume has, and what a restore that was killed leaves.
var nothing = sets.New("lost+found", dirlock.FileName, stagingDir)

// RestoreConfig says what is restored where. All fields but Logger are required.
type RestoreConfig struct {
	// Dir is the data directory. It must be absent or empty.
	Dir string
	// Input is the snapshot, a file.
	Input string
	// Prefix is the key below which the caller's objects lie. A snapshot that has
	// other keys only is refused.
	Prefix string
	// Logger gets etcd's own lines.
	Logger logr.Logger
}

// Restored describes what was restored.
type Restored struct {
	// Keys is the number of keys, of objects and of what is kept beside them.
	Keys int
	// Saved is the revision of the snapshot, Revision the one to go on from.
	Saved, Revision int64
}

// Restore makes a data directory from a snapshot. The directory is there whole or not
// at all, and an unfit snapshot or directory is an error before anything is changed.
//
// Revisions go on far above those of the snapshot, and all of them count as
// compacted, so that a client which has seen later ones is told to list again. The
// member gets an identity of its own, as it is not the one that was saved.
//
// After an error from etcd's own code its goroutine may be left, with files that are
// open; the process is expected to exit.
func Restore(cfg RestoreConfig) (Restored, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return Restored{}, fmt.Errorf("resolve data directory: %w", err)
	}
	found, err := inspect(cfg.Input, cfg.Prefix)
	if err != nil {
		return Restored{}, fmt.Errorf("%s cannot be restored: %w", cfg.Input, err)
	}
	if err := requireEmpty(dir); err != nil {
		return Restored{}, err
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return Restored{}, fmt.Errorf("make data directory: %w", explainDisk(err))
	}
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		return Restored{}, explainDisk(err)
	}
	// A server may have come and gone before the lock was ours.
	err = requireEmpty(dir)
	if err == nil {
		err = stage(dir, &cfg)
	}
	if err := errors.Join(explainDisk(err), lock.Release()); err != nil {
		return Restored{}, err
	}
	return Restored{Keys: found.TotalKey, Saved: found.Revision, Revision: found.Revision + revisionBump}, nil
}

// requireEmpty returns an error when dir has anything that counts.
func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at data directory: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !nothing.Has(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("data directory %s is not empty (it has %s); restore into a new directory, or stop the server and move this one away",
			dir, strings.Join(names, ", "))
	}
	return nil
}

// stage makes the directory of etcd beside where it belongs, and moves it there.
func stage(dir string, cfg *RestoreConfig) (err error) {
	staging := filepath.Join(dir, stagingDir)
	if err := os.RemoveAll(staging); err != nil {
		return fmt.Errorf("clear what a former restore has left: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staging))
		}
	}()
	id := newIdentity()
	err = withEtcd(cfg.Logger, func(lg *zap.Logger) error {
		return snapshot.NewV3(lg).Restore(snapshot.RestoreConfig{
			SnapshotPath:        cfg.Input,
			Name:                memberName,
			OutputDataDir:       staging,
			PeerURLs:            []string{peerURL},
			InitialCluster:      memberName + "=" + peerURL,
			InitialClusterToken: id.Token,
			RevisionBump:        revisionBump,
			MarkCompacted:       true,
		})
	})
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	if err := id.write(staging); err != nil {
		return err
	}
	if err := syncTree(staging); err != nil {
		return fmt.Errorf("write restored data: %w", err)
	}
	if err := os.Rename(staging, filepath.Join(dir, etcdDir)); err != nil {
		return fmt.Errorf("put restored data in place: %w", err)
	}
	return syncPath(dir)
}

// withEtcd runs code of etcd that ends the process when the disk fails, and returns
// that end as an error. It may come from any goroutine, so it is never returned
// from: the one that it comes from ends.
func withEtcd(log logr.Logger, run func(*zap.Logger) error) error {
	done := make(chan error, 1)
	fail := func(err error) {
		select {
		case done <- err:
		default:
		}
		runtime.Goexit()
	}
	go func() {
		err := run(newZapLogger(log, &atomic.Bool{}, fail))
		select {
		case done <- err:
		default:
		}
	}()
	return <-done
}

// syncTree puts all files and names below dir on disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncPath(path)
	})
}

// syncPath puts a file, or the names in a directory, on disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
