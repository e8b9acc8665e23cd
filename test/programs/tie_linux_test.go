/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestTiedProgramsEndWithTheirStarter(t *testing.T) {
	if fifo := os.Getenv("TIED_TO_THIS"); fifo != "" {
		// This is the program that is killed below; what it starts is tied to it.
		_, err := new(Starting).Start(Command{
			Path: "/bin/sh", Args: []string{"-c", "exec sleep 600 >" + fifo}, Log: os.DevNull, Group: true, Tied: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		select {}
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := new(Starting).Start(Command{
		Path: os.Args[0], Args: []string{"-test.run=^" + t.Name() + "$"}, Env: []string{"TIED_TO_THIS=" + fifo}, Log: filepath.Join(dir, "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	// The fifo has a writer for as long as the inner program lives.
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Error(err)
	}
}
