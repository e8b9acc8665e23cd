/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"k8s.io/apimachinery/pkg/util/sets"

	"inferencecache.io/inference-cache/pkg/storage/dirlock"
)

// snapshotOf returns a snapshot of an etcd that has these keys.
func snapshotOf(t *testing.T, keys ...string) []byte {
	t.Helper()
	var content bytes.Buffer
	t.Run("snapshot", func(t *testing.T) {
		s := start(t, Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true})
		c := dial(t, s)
		for _, key := range keys {
			if _, err := c.Put(t.Context(), key, "value of "+key); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Save(t.Context(), s.cfg.Dir, &content, s.log); err != nil {
			t.Fatal(err)
		}
	})
	return content.Bytes()
}

// bolt returns a sealed bbolt database with one bucket of one pair.
func bolt(t *testing.T, bucket, key, value string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(key), []byte(value))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sealed(content)
}

// tree lists what is in a directory. One that is absent is nil.
func tree(t *testing.T, dir string) sets.Set[string] {
	t.Helper()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all := sets.New[string]()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all.Insert(strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRestoreRefusesSnapshot restores what is no whole snapshot of ours, and holds
// that nothing comes of it.
func TestRestoreRefusesSnapshot(t *testing.T) {
	whole := snapshotOf(t, testPrefix+"a", testPrefix+"b")
	edit := func(change func(b []byte)) []byte {
		b := bytes.Clone(whole)
		change(b)
		return b
	}
	const cut, changed, foreign = "it was cut short", "its checksum does not fit", "it is not a database"
	tests := map[string]struct {
		content []byte
		want    string
	}{
		"empty":                  {want: cut},
		"text":                   {content: []byte("apiVersion: v1\n"), want: cut},
		"cut in the middle":      {content: whole[:len(whole)/2+7], want: cut},
		"cut by a page":          {content: whole[:len(whole)-4096], want: changed},
		"checksum cut off":       {content: whole[:len(whole)-sealSize], want: cut},
		"bit flipped in front":   {content: edit(func(b []byte) { b[17] ^= 4 }), want: changed},
		"bit flipped at the end": {content: edit(func(b []byte) { b[len(b)-1] ^= 1 }), want: changed},
		"zeros in the middle":    {content: edit(func(b []byte) { clear(b[8192:12288]) }), want: changed},
		"sealed zeros":           {content: sealed(make([]byte, 64<<10)), want: foreign},
		"sealed text":            {content: sealed(bytes.Repeat([]byte("text"), 4096)), want: foreign},
		"sealed half":            {content: sealed(whole[:12<<10]), want: "its database has 12288 bytes and should have"},
		"database of another":    {content: bolt(t, "bucket", "key", "value"), want: "it has no keys"},
		"keys without revision":  {content: bolt(t, "key", "key", "value"), want: "database is damaged"},
		"etcd of another":        {content: snapshotOf(t, "/registry/pods/a", compactionKey), want: "it is a snapshot of another etcd: it has no key below " + testPrefix},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			input := filepath.Join(t.TempDir(), "snapshot")
			if err := os.WriteFile(input, tc.content, 0o600); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "data")
			_, err := Restore(RestoreConfig{Dir: dir, Input: input, Prefix: testPrefix})
			if err == nil {
				t.Fatal("restored")
			}
			for _, want := range []string{input + " cannot be restored", tc.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if diff := cmp.Diff(sets.Set[string](nil), tree(t, dir)); diff != "" {
				t.Errorf("changed the directory (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRestoreRefusesFile(t *testing.T) {
	tests := map[string]struct{ input, want string }{
		"absent":    {input: filepath.Join(t.TempDir(), "absent"), want: "no such file"},
		"directory": {input: t.TempDir(), want: "it is not a regular file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Restore(RestoreConfig{Dir: filepath.Join(t.TempDir(), "data"), Input: tc.input, Prefix: testPrefix})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v does not say %q", err, tc.want)
			}
		})
	}
}

// TestRestoreInto restores into directories that have something, and into those that
// only look so.
func TestRestoreInto(t *testing.T) {
	input := filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(input, snapshotOf(t, testPrefix+"a"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		// files are made before.
		files []string
		// refused is what the error says, empty when there is none.
		refused string
	}{
		"absent directory":         {},
		"new volume":               {files: []string{"lost+found/x"}},
		"lock of a former server":  {files: []string{dirlock.FileName}},
		"killed restore":           {files: []string{dirlock.FileName, stagingDir + "/member/snap/db"}},
		"directory of a server":    {files: []string{dirlock.FileName, "etcd/identity"}, refused: "is not empty (it has etcd); restore into a new directory, or stop the server and move this one away"},
		"directory of credentials": {files: []string{"ca.crt", "token"}, refused: "(it has ca.crt, token)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true}
			for _, file := range tc.files {
				writeFile(t, filepath.Join(cfg.Dir, file), "x")
			}
			before := tree(t, cfg.Dir)
			_, err := Restore(RestoreConfig{Dir: cfg.Dir, Input: input, Prefix: testPrefix})
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("error %v does not say %q", err, tc.refused)
				}
				if diff := cmp.Diff(before, tree(t, cfg.Dir)); diff != "" {
					t.Errorf("changed the directory (-want +got):\n%s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, _ := everything(t, dial(t, start(t, cfg)))
			if diff := cmp.Diff(map[string]string{testPrefix + "a": "value of " + testPrefix + "a"}, got); diff != "" {
				t.Errorf("wrong content (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRestoreEmpty restores an etcd in which nothing was ever written, twice over.
func TestRestoreEmpty(t *testing.T) {
	content := snapshotOf(t)
	for range 2 {
		input := filepath.Join(t.TempDir(), "snapshot")
		if err := os.WriteFile(input, content, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "data")
		if _, err := Restore(RestoreConfig{Dir: dir, Input: input, Prefix: testPrefix}); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if _, err := Save(t.Context(), dir, &again, start(t, Config{Dir: dir, UnsafeNoFsync: true}).log); err != nil {
			t.Fatal(err)
		}
		content = again.Bytes()
	}
}

func TestRestoreUnderLock(t *testing.T) {
	dir := t.TempDir()
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	input := filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(input, snapshotOf(t, testPrefix+"a"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Restore(RestoreConfig{Dir: dir, Input: input, Prefix: testPrefix})
	if _, inUse := errors.AsType[*dirlock.InUseError](err); !inUse {
		t.Errorf("error %v, want an InUseError", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestLater(t *testing.T) {
	tests := map[string]struct {
		a, b string
		want bool
	}{
		"same":          {a: "3.7.0", b: "3.7.3"},
		"earlier minor": {a: "3.6.0", b: "3.7.3"},
		"later minor":   {a: "3.8.0", b: "3.7.3", want: true},
		"two digits":    {a: "3.10.0", b: "3.9.9", want: true},
		"later major":   {a: "4.0.0", b: "3.7.3", want: true},
		"earlier major": {a: "2.9.0", b: "3.7.3"},
		"none":          {a: "", b: "3.7.3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := later(tc.a, tc.b); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}
