/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"inferencecache.io/inference-cache/pkg/storage/dirlock"
)

const (
	// answerPatience is how long the server of a directory may take to answer. It
	// may have started just now, and then replays its log first.
	answerPatience = 30 * time.Second

	// answerInterval is the pause between two attempts to reach it.
	answerInterval = 100 * time.Millisecond
)

// Saved describes a snapshot that was saved.
type Saved struct {
	// Bytes is the length of the snapshot, its checksum included.
	Bytes int64
	// Revision is the etcd revision just before the copy was made. The snapshot has
	// this revision whole, and may have later ones.
	Revision int64
	// FromServer is true when a running server has made the copy.
	FromServer bool
}

// Save writes a snapshot of the database of a data directory to w: one state of all
// of it, followed by a checksum. When a server runs on the directory it is asked for
// the copy, which delays no write. Otherwise etcd is started for as long as it takes,
// because its log may have more than its database.
//
// A directory without a database is an error. After an error what was written to w is
// not a snapshot, and Restore knows that. log gets etcd's own lines.
func Save(ctx context.Context, dir string, w io.Writer, log logr.Logger) (Saved, error) {
	cfg := Config{Dir: dir, Logger: log, passive: true}
	if err := errors.Join(cfg.validate(), cfg.complete()); err != nil {
		return Saved{}, err
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, etcdDir, memberDir)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return Saved{}, fmt.Errorf("%s has no embedded etcd; name the data directory of the server, and save an etcd of your own with its own tools", cfg.Dir)
		}
		return Saved{}, fmt.Errorf("look at data directory: %w", err)
	}
	server, err := Start(ctx, cfg)
	if inUse, ok := errors.AsType[*dirlock.InUseError](err); ok {
		return saveFromServer(ctx, &cfg, inUse, w)
	}
	if err != nil {
		return Saved{}, err
	}
	client, revision, err := connect(ctx, server.socket)
	if err != nil {
		return Saved{}, errors.Join(err, server.Close())
	}
	bytes, err := receive(ctx, client, w)
	// The client has to go first: the server waits for it.
	return Saved{Bytes: bytes, Revision: revision}, errors.Join(err, client.Close(), server.Close())
}

// saveFromServer asks the server that holds the directory.
func saveFromServer(ctx context.Context, cfg *Config, inUse *dirlock.InUseError, w io.Writer) (Saved, error) {
	client, revision, err := awaitServer(ctx, filepath.Join(cfg.Dir, etcdDir))
	if err != nil {
		return Saved{}, fmt.Errorf("%w, and its etcd cannot be reached; save as the user and on the machine of that server: %w", inUse, err)
	}
	bytes, err := receive(ctx, client, w)
	return Saved{Bytes: bytes, Revision: revision, FromServer: true}, errors.Join(err, client.Close())
}

// awaitServer connects to the server of dir as soon as it answers. No permission is
// final at once, everything else may be a server that starts.
func awaitServer(ctx context.Context, dir string) (*clientv3.Client, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	again := time.NewTicker(answerInterval)
	defer again.Stop()
	for {
		socket, err := findSocket(dir)
		if err == nil {
			var client *clientv3.Client
			var revision int64
			if client, revision, err = connect(ctx, socket); err == nil {
				return client, revision, nil
			}
		}
		if errors.Is(err, fs.ErrPermission) {
			return nil, 0, err
		}
		select {
		case <-ctx.Done():
			return nil, 0, err
		case <-again.C:
		}
	}
}

// connect returns a client of the etcd at socket, and its revision.
func connect(ctx context.Context, socket string) (*clientv3.Client, int64, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"unix://" + socket}, Logger: zap.NewNop()})
	if err != nil {
		return nil, 0, fmt.Errorf("make etcd client: %w", err)
	}
	// Any key will do: the answer names the revision.
	answer, err := client.Get(ctx, memberName, clientv3.WithCountOnly())
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("ask etcd for its revision: %w", err), client.Close())
	}
	return client, answer.Header.GetRevision(), nil
}

// receive copies a snapshot to w and returns its length.
func receive(ctx context.Context, client *clientv3.Client, w io.Writer) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, err := client.SnapshotWithVersion(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask etcd for a snapshot: %w", err)
	}
	defer answer.Snapshot.Close()
	seal := newSeal()
	// The checksum comes after the write, so that it covers what was written whole.
	if _, err := io.Copy(io.MultiWriter(w, seal), answer.Snapshot); err != nil {
		return 0, fmt.Errorf("copy snapshot: %w", explainDisk(err))
	}
	if err := seal.check(); err != nil {
		return 0, fmt.Errorf("the snapshot arrived damaged: %w", err)
	}
	return seal.size, nil
}
