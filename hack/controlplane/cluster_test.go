//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/controlplane"
	"inferencecache.io/inference-cache/test/programs"
)

// call runs the program and returns what it printed.
func call(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return out.String()
}

// recorded reads which processes a cluster has.
func recorded(t *testing.T, dir string) []controlplane.Process {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "cluster", "processes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var processes []controlplane.Process
	if err := json.Unmarshal(content, &processes); err != nil {
		t.Fatal(err)
	}
	return processes
}

// gone is an error if a process still runs. One that has ended and that nobody
// waited for yet has no command line.
func gone(id int) error {
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id)); err == nil && len(line) > 0 {
		return fmt.Errorf("process %d still runs: %q", id, line)
	}
	return nil
}

func expectGone(t *testing.T, processes []controlplane.Process) {
	t.Helper()
	for _, process := range processes {
		if err := gone(process.ID); err != nil {
			t.Error(err)
		}
	}
}

func TestUpAndDown(t *testing.T) {
	directory, err := controlplane.Programs()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	up := []string{"up", "-dir=" + dir, "-programs=" + directory, "-nodes=1"}
	t.Cleanup(func() { _ = run(t.Context(), []string{"down", "-dir=" + dir}, os.Stderr) }) // if the test fails

	first := call(t, up...)
	for _, want := range []string{"Kubernetes v1.", filepath.Join(dir, "cluster", "kubeconfig"), "get nodes"} {
		if !strings.Contains(first, want) {
			t.Errorf("printed without %q:\n%s", want, first)
		}
	}
	processes := recorded(t, dir)

	if diff := cmp.Diff(first, call(t, up...)); diff != "" {
		t.Errorf("a second up prints something else (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(processes, recorded(t, dir)); diff != "" {
		t.Errorf("a second up runs other processes (-first +second):\n%s", diff)
	}

	victim := processes[len(processes)-1].ID
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := programs.Poll(t.Context(), func() error { return gone(victim) }); err != nil {
		t.Fatal(err)
	}
	call(t, up...)
	expectGone(t, processes)
	processes = recorded(t, dir)

	call(t, "down", "-dir="+dir)
	expectGone(t, processes)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
	call(t, "down", "-dir="+dir)
}
