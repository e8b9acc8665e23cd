/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// testPrefix is where the tests keep what counts as theirs.
const testPrefix = "/test/"

// saveFile saves the etcd of dir to a new file.
func saveFile(t *testing.T, dir string) (path string, saved Saved) {
	t.Helper()
	var content bytes.Buffer
	saved, err := Save(t.Context(), dir, &content, testr.New(t))
	if err != nil {
		t.Fatalf("save: %v", err)
	}
	path = filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, saved
}

// everything returns all keys below the prefix, and the revision of the answer.
func everything(t *testing.T, c *clientv3.Client) (map[string]string, int64) {
	t.Helper()
	r, err := c.Get(t.Context(), testPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, kv := range r.Kvs {
		all[string(kv.Key)] = string(kv.Value)
	}
	return all, r.Header.Revision
}

// writeHistory writes keys of several versions, and deletes one.
func writeHistory(t *testing.T, c *clientv3.Client) {
	t.Helper()
	for i := range 50 {
		if _, err := c.Put(t.Context(), fmt.Sprintf("%s%d", testPrefix, i%20), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Delete(t.Context(), testPrefix+"7"); err != nil {
		t.Fatal(err)
	}
}

// requireSuccessor holds that a restored server has what was saved, and that no client
// of the former one can go on in its past.
func requireSuccessor(t *testing.T, c *clientv3.Client, want map[string]string, restored Restored) {
	t.Helper()
	got, now := everything(t, c)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong content (-want +got):\n%s", diff)
	}
	if now < restored.Revision {
		t.Errorf("revision %d, want %d at least", now, restored.Revision)
	}
	for _, old := range []int64{restored.Saved, restored.Saved + 1, restored.Revision - 1} {
		answer := <-c.Watch(t.Context(), testPrefix, clientv3.WithPrefix(), clientv3.WithRev(old))
		if !errors.Is(answer.Err(), rpctypes.ErrCompacted) {
			t.Errorf("watch from revision %d: %v, want %v", old, answer.Err(), rpctypes.ErrCompacted)
		}
	}
	put, err := c.Put(t.Context(), testPrefix+"new", "x")
	if err != nil {
		t.Fatal(err)
	}
	if put.Header.Revision <= restored.Revision {
		t.Errorf("first write has revision %d, want more than %d", put.Header.Revision, restored.Revision)
	}
}

func TestSaveAndRestore(t *testing.T) {
	longName := strings.Repeat("d", 120)
	tests := map[string]struct {
		sub     string
		running bool
	}{
		"of a stopped server":                     {sub: "data"},
		"of a running server":                     {sub: "data", running: true},
		"of a running server in a long directory": {sub: filepath.Join(longName, longName), running: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			from := Config{Dir: filepath.Join(t.TempDir(), tc.sub), UnsafeNoFsync: true, Logger: testr.New(t)}
			server, err := Start(t.Context(), from)
			if err != nil {
				t.Fatal(err)
			}
			c, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Logger: zap.NewNop()})
			if err != nil {
				t.Fatal(err)
			}
			writeHistory(t, c)
			want, revision := everything(t, c)
			stop := func() error { return errors.Join(c.Close(), server.Close()) }
			if !tc.running {
				if err := stop(); err != nil {
					t.Fatal(err)
				}
			}
			path, saved := saveFile(t, from.Dir)
			if tc.running {
				if _, err := c.Put(t.Context(), testPrefix+"after", "the copy"); err != nil {
					t.Errorf("the server no longer takes writes: %v", err)
				}
				if err := stop(); err != nil {
					t.Fatal(err)
				}
			}
			wantSaved := Saved{Bytes: saved.Bytes, Revision: revision, FromServer: tc.running}
			if diff := cmp.Diff(wantSaved, saved); diff != "" {
				t.Errorf("wrong description (-want +got):\n%s", diff)
			}

			to := Config{Dir: filepath.Join(t.TempDir(), tc.sub), UnsafeNoFsync: true, Logger: testr.New(t)}
			restored, err := Restore(RestoreConfig{Dir: to.Dir, Input: path, Prefix: testPrefix, Logger: testr.New(t)})
			if err != nil {
				t.Fatalf("restore: %v", err)
			}
			wantRestored := Restored{Keys: len(want), Saved: revision, Revision: revision + revisionBump}
			if diff := cmp.Diff(wantRestored, restored); diff != "" {
				t.Errorf("wrong description (-want +got):\n%s", diff)
			}
			requireSuccessor(t, dial(t, start(t, to)), want, restored)
		})
	}
}

// TestSaveIsOneState saves while two keys are written in one transaction again and
// again. No snapshot may have one without the other.
func TestSaveIsOneState(t *testing.T) {
	from := Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true}
	c := dial(t, start(t, from))
	ctx, cancel := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	first := make(chan struct{})
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			value := fmt.Sprint(i)
			_, err := c.Txn(ctx).Then(clientv3.OpPut(testPrefix+"a", value), clientv3.OpPut(testPrefix+"b", value)).Commit()
			if err != nil && ctx.Err() == nil {
				t.Errorf("write %d: %v", i, err)
				return
			}
			if i == 0 {
				close(first)
			}
		}
	})
	<-first
	var paths []string
	for range 3 {
		path, _ := saveFile(t, from.Dir)
		paths = append(paths, path)
	}
	cancel()
	writer.Wait()
	for _, path := range paths {
		to := Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true}
		if _, err := Restore(RestoreConfig{Dir: to.Dir, Input: path, Prefix: testPrefix}); err != nil {
			t.Fatal(err)
		}
		if got, _ := everything(t, dial(t, start(t, to))); len(got) != 2 || got[testPrefix+"a"] != got[testPrefix+"b"] {
			t.Errorf("not one state: %v", got)
		}
	}
}

// TestSaveAfterKill saves from a directory whose log has more than its database.
func TestSaveAfterKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd, out, stderr := writer(t, dir, childValueSize+"=100")
	var acked []string
	for len(acked) < 20 {
		if !out.Scan() {
			t.Fatalf("writer stopped: %v\n%s", cmd.Wait(), stderr)
		}
		acked = append(acked, out.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for out.Scan() {
		acked = append(acked, out.Text())
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("killed writer ended without an error")
	}
	path, _ := saveFile(t, dir)
	to := filepath.Join(t.TempDir(), "data")
	// The writer's keys begin with its process id.
	if _, err := Restore(RestoreConfig{Dir: to, Input: path, Prefix: fmt.Sprint(cmd.Process.Pid)}); err != nil {
		t.Fatal(err)
	}
	verify(t, to, acked)
}

func TestSaveRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "x")
	tests := map[string]struct{ dir, want string }{
		"no directory":         {dir: "", want: "data directory is not set"},
		"absent directory":     {dir: filepath.Join(t.TempDir(), "absent"), want: "has no embedded etcd"},
		"directory of another": {dir: t.TempDir(), want: "has no embedded etcd"},
		"file":                 {dir: file, want: "not a directory"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var content bytes.Buffer
			_, err := Save(t.Context(), tc.dir, &content, testr.New(t))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v does not say %q", err, tc.want)
			}
			if content.Len() > 0 {
				t.Errorf("wrote %d bytes", content.Len())
			}
			if entries, err := os.ReadDir(tc.dir); err == nil && len(entries) > 0 {
				t.Errorf("made %v", entries)
			}
		})
	}
}

// fullDisk takes some bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.left {
		return 0, fmt.Errorf("write: %w", os.ErrInvalid)
	}
	d.left -= len(p)
	return len(p), nil
}

func TestSaveToFullDisk(t *testing.T) {
	s := start(t, Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true})
	if _, err := Save(t.Context(), s.cfg.Dir, &fullDisk{left: 10_000}, testr.New(t)); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("error %v, want that of the writer", err)
	}
	if _, err := dial(t, s).Put(t.Context(), "k", "v"); err != nil {
		t.Errorf("the server no longer takes writes: %v", err)
	}
}
