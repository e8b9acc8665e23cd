//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/test/programs"
)

// promtool runs Prometheus' own checker and fails the test when that finds something.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	repository, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := exec.CommandContext(t.Context(), filepath.Join(repository, "hack", "tool.sh"), "promtool").Output()
	if err != nil {
		t.Fatalf("build promtool: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(strings.TrimSpace(string(tools)), "promtool"), args...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// TestRules has Prometheus read the rules and judge how they are written. Alerts with
// two rules differ in their labels.
func TestRules(t *testing.T) {
	promtool(t, "check", "rules", "--lint=all", "--lint-fatal", filepath.Join(root, "monitoring", "rules.yaml"))
}

// TestAlertsFire has Prometheus evaluate the rules over the series of each file.
func TestAlertsFire(t *testing.T) {
	for _, file := range alertFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			promtool(t, "test", "rules", file)
		})
	}
}
