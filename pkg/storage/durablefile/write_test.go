/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package durablefile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	tests := map[string]struct {
		old  string
		mode os.FileMode
	}{
		"new file":                    {mode: 0o600},
		"longer file":                 {old: "something much longer than the new content", mode: 0o644},
		"file with other permissions": {old: "x", mode: 0o640},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if tc.old != "" {
				if err := os.WriteFile(path, []byte(tc.old), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := Write(path, []byte("new content"), tc.mode); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != "new content" {
				t.Errorf("content %q, error %v", got, err)
			}
			fi, err := os.Stat(path)
			if err != nil || fi.Mode().Perm() != tc.mode {
				t.Errorf("mode %v, error %v, want %v", fi.Mode().Perm(), err, tc.mode)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 {
				t.Errorf("left behind: %v, error %v", entries, err)
			}
		})
	}
}

func TestWriteFailsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "file")
	if err := Write(path, []byte("x"), 0o600); err == nil {
		t.Error("wrote into a directory that does not exist")
	}
}
