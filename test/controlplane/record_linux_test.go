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

	"inferencecache.io/inference-cache/test/programs"
)

// sleeper stands for a program of a cluster.
func sleeper(t *testing.T) (*programs.Process, Process) {
	t.Helper()
	command := []string{"/bin/sleep", "600"}
	process, err := new(programs.Starting).Start(programs.Command{Path: command[0], Args: command[1:], Log: os.DevNull, Tied: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Kill() }) // most tests have ended it by then
	return process, Process{Name: "sleep", ID: process.ID(), Command: command}
}

// claimed is a directory that belongs to a cluster with these processes.
func claimed(t *testing.T, processes ...Process) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cluster")
	if err := errors.Join(claim(dir), writeRecord(dir, processes)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRunning(t *testing.T) {
	process, record := sleeper(t)
	dir := claimed(t, record)

	if kubeconfig, err := Running(dir); kubeconfig != "" || err != nil {
		t.Errorf("a cluster that never became whole: %q, %v", kubeconfig, err)
	}
	want := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if kubeconfig, err := Running(dir); kubeconfig != want || err != nil {
		t.Errorf("a running cluster: %q, %v", kubeconfig, err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	if kubeconfig, err := Running(dir); kubeconfig != "" || err != nil {
		t.Errorf("a cluster with a dead program: %q, %v", kubeconfig, err)
	}
	if kubeconfig, err := Running(filepath.Join(dir, "none")); kubeconfig != "" || err != nil {
		t.Errorf("no cluster: %q, %v", kubeconfig, err)
	}
	if err := os.WriteFile(filepath.Join(dir, recordFile), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Running(dir); err == nil || !strings.Contains(err.Error(), recordFile) {
		t.Errorf("a damaged record: %v", err)
	}
}

func TestEndKillsWhatWasRecorded(t *testing.T) {
	process, record := sleeper(t)
	dir := claimed(t, record)
	if err := End(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	<-process.Ended()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
	if err := End(t.Context(), dir); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestEndSparesWhoHasTheIDNow(t *testing.T) {
	process, record := sleeper(t)
	record.Command = []string{"/bin/sleep", "601"}
	if err := End(t.Context(), claimed(t, record)); err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Errorf("somebody else's process was ended: %v", err)
	}
}

func TestForeignDirectories(t *testing.T) {
	dir := t.TempDir()
	photo := filepath.Join(dir, "photo")
	if err := os.WriteFile(photo, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := End(t.Context(), dir); err == nil {
		t.Error("the directory of somebody else was removed")
	}
	if err := claim(dir); err == nil {
		t.Error("the directory of somebody else was taken")
	}
	if _, err := os.Stat(photo); err != nil {
		t.Error(err)
	}
}
