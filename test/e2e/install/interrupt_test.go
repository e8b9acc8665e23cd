//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// interrupt kills a script when it says a word. What the script called just then may
// go on for a moment, as with somebody's kill -9.
func interrupt(t *testing.T, word, name string, args ...string) {
	t.Helper()
	cmd := command(t, filepath.Join(environment.artifacts, name), args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	lines := bufio.NewScanner(io.TeeReader(out, &said))
	for lines.Scan() {
		if strings.Contains(lines.Text(), word) {
			break
		}
	}
	_ = cmd.Process.Kill() // it may have ended, which Wait tells
	if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), word) {
		t.Fatalf("%s ended by itself before it said %q: %v\n%s", name, word, err, said.String())
	}
}

// TestInterruptions kills the scripts at every stage, each time further on, and runs
// them again: up, and down without a trace.
func TestInterruptions(t *testing.T) {
	core, _ := clients(t)
	makeVolume(t, core, "volume-interrupted")
	kubelet := startKubelet(t)
	overlay := overlay(t, kubelet.port())
	for _, word := range []string{"Applying ", "Waiting for the server", registration} {
		interrupt(t, word, "install.sh", "--overlay", overlay)
	}
	mustScript(t, "install.sh", "--overlay", overlay)
	kubectl(t, "apply", "--server-side", "--namespace=default", "--filename="+filepath.Join(environment.artifacts, "examples", "cachepolicy.yaml"))
	for _, word := range []string{"Deleting all ", "Looking for what they own", "annotated", registration, "statefulset", "clusterrolebinding"} {
		interrupt(t, word, "uninstall.sh")
	}
	mustScript(t, "uninstall.sh")
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("these are left:\n%s", strings.Join(left, "\n"))
	}
}
