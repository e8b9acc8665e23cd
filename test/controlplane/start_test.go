/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write puts scripts in place of programs.
func write(t *testing.T, scripts map[program]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, string(name)), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	return dir
}

func TestStartFails(t *testing.T) {
	tests := map[string]struct {
		scripts map[program]string
		want    []string
	}{
		"no program is there": {want: []string{"has no etcd", "hack/tool.sh controlplane"}},
		"one program is missing": {
			scripts: map[program]string{etcd: "", apiServer: "", controllerManager: "", scheduler: ""},
			want:    []string{"has no kwok", "hack/tool.sh controlplane"},
		},
		"a program ends": {
			scripts: map[program]string{etcd: "echo out of luck; exit 1", apiServer: "", controllerManager: "", scheduler: "", kwok: ""},
			want:    []string{"wait for etcd", "etcd has ended", "out of luck", "exit status 1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cluster")
			_, err := Start(t.Context(), Options{Programs: write(t, test.scripts), Dir: dir})
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error says nothing of %q: %v", want, err)
				}
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is left: %v", dir, err)
			}
		})
	}
}

func TestProgramsSaysHowToGetThem(t *testing.T) {
	for name, want := range map[string]string{"": "make e2e", t.TempDir(): "hack/tool.sh controlplane"} {
		t.Setenv("CONTROLPLANE", name)
		if _, err := Programs(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: got error %v, want one that names %s", name, err, want)
		}
	}
}

func TestCredentialsArePrivate(t *testing.T) {
	dir := t.TempDir()
	c, err := makeCredentials(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.writeClients("https://localhost:1"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", entry.Name(), info.Mode(), err)
		}
	}
	if len(entries) != 17 {
		t.Errorf("got %d files: %v", len(entries), entries)
	}
}
