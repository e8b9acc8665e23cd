/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package durablefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ways are the two ways in which a file is made before it has its name.
var ways = map[string]func(path string, mode os.FileMode, replace bool) (*File, error){
	"as the system can": Create,
	"with a temporary name": func(path string, mode os.FileMode, replace bool) (*File, error) {
		f := &File{path: path, replace: replace}
		return f, f.openNamed(mode)
	},
}

// names lists what is in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestCommit(t *testing.T) {
	tests := map[string]struct {
		// old is the content of a file that is there before, later that of one
		// that comes while ours is written.
		old, later string
		replace    bool
		want       string
		exists     bool
	}{
		"new file":                  {want: "new"},
		"new file, may replace":     {replace: true, want: "new"},
		"replaces":                  {old: "old", replace: true, want: "new"},
		"does not replace":          {later: "old", want: "old", exists: true},
		"replaces what comes later": {later: "old", replace: true, want: "new"},
	}
	for way, create := range ways {
		for name, tc := range tests {
			t.Run(way+"/"+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file")
				put := func(content string) {
					if content == "" {
						return
					}
					if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				put(tc.old)
				f, err := create(path, 0o640, tc.replace)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Write([]byte("new")); err != nil {
					t.Fatal(err)
				}
				put(tc.later)
				if err := f.Commit(); errors.Is(err, fs.ErrExist) != tc.exists || (err != nil) != tc.exists {
					t.Errorf("commit: %v, want one that says the file exists: %t", err, tc.exists)
				}
				if err := f.Discard(); err != nil {
					t.Errorf("discard after commit: %v", err)
				}
				got, err := os.ReadFile(path)
				if err != nil || string(got) != tc.want {
					t.Errorf("content %q, error %v, want %q", got, err, tc.want)
				}
				if info, err := os.Stat(path); !tc.exists && (err != nil || info.Mode().Perm() != 0o640) {
					t.Errorf("mode %v, error %v", info.Mode(), err)
				}
				if diff := cmp.Diff([]string{"file"}, names(t, filepath.Dir(path))); diff != "" {
					t.Errorf("wrong files (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestDiscard(t *testing.T) {
	for way, create := range ways {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			f, err := create(filepath.Join(dir, "file"), 0o600, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write([]byte("half")); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Discard(), f.Discard()); err != nil {
				t.Error(err)
			}
			if left := names(t, dir); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCreateFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		path string
		want error
	}{
		"file is there":          {path: "there", want: fs.ErrExist},
		"directory is not there": {path: "absent/file", want: fs.ErrNotExist},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Create(filepath.Join(dir, tc.path), 0o600, false); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if diff := cmp.Diff([]string{"there"}, names(t, dir)); diff != "" {
				t.Errorf("wrong files (-want +got):\n%s", diff)
			}
		})
	}
}
