/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestProcessThatEndsByItself(t *testing.T) {
	p, err := start(t.TempDir(), "failing", "/bin/sh", "-c", "echo some output; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
	failure := p.failure().Error()
	for _, want := range []string{"failing ended", "exit status 3", "some output"} {
		if !strings.Contains(failure, want) {
			t.Errorf("%q is missing in %q", want, failure)
		}
	}
	if err := p.stop(); err != nil {
		t.Errorf("stopping what has ended: %v", err)
	}
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	dir := t.TempDir()
	// The shell waits for a child that ends with the group only.
	ready := filepath.Join(dir, "ready")
	p, err := start(dir, "group", "/bin/sh", "-c", "cat /dev/zero >/dev/null & touch "+ready+"; wait")
	if err != nil {
		t.Fatal(err)
	}
	err = poll(t.Context(), "the child", func() (bool, error) {
		_, err := os.Stat(ready)
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	err = poll(t.Context(), "the group to be gone", func() (bool, error) {
		return errors.Is(syscall.Kill(-p.cmd.Process.Pid, 0), syscall.ESRCH), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStartNamesWhatIsMissing(t *testing.T) {
	if _, err := start(t.TempDir(), "missing", "/no/such/program"); err == nil || !strings.Contains(err.Error(), "start missing") {
		t.Errorf("got %v", err)
	}
}
