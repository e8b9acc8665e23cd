/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
)

// TestDamagedDatabase starts on a database that was cut off or overwritten.
func TestDamagedDatabase(t *testing.T) {
	tests := map[string]func(t *testing.T, path string) error{
		"cut off":       func(_ *testing.T, path string) error { return os.Truncate(path, 20_000) },
		"almost empty":  func(_ *testing.T, path string) error { return os.Truncate(path, 100) },
		"other content": func(_ *testing.T, path string) error { return os.WriteFile(path, make([]byte, 64<<10), 0o600) },
		"zeros in front": func(t *testing.T, path string) error {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(content[:12<<10])
			return os.WriteFile(path, content, 0o600)
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true, Logger: testr.New(t)}
			s, err := Start(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(cfg.Dir, etcdDir, databaseFile)
			if err := damage(t, path); err != nil {
				t.Fatal(err)
			}
			s, err = Start(t.Context(), cfg)
			if err == nil {
				t.Fatalf("started; close: %v", s.Close())
			}
			for _, want := range []string{path, "is damaged", "restore"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}
