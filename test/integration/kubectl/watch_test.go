//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"bufio"
	"context"
	"strings"
	"testing"
	"time"
)

// patience bounds the wait for a line. It only decides when a broken watch is
// given up on.
const patience = time.Minute

// watching is a kubectl that watches.
type watching struct {
	lines chan string
}

// startWatch runs a command that prints until the test ends.
func startWatch(t *testing.T, env []string, line string) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	// With exec, what is killed at the end is kubectl and not the shell.
	cmd := command(ctx, env, "exec "+line)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &watching{lines: make(chan string, 100)}
	go func() {
		defer close(w.lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			w.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range w.lines {
			// Until the process has let go of the pipe.
		}
		// The error says that it was killed, which it was.
		_ = cmd.Wait()
	})
	return w
}

// expect reads lines until one has the given words as its first cells, in order.
func (w *watching) expect(t *testing.T, words ...string) {
	t.Helper()
	var seen []string
	deadline := time.After(patience)
	for {
		select {
		case line, open := <-w.lines:
			if !open {
				t.Fatalf("the watch ended before %q, after:\n%s", words, strings.Join(seen, "\n"))
			}
			seen = append(seen, line)
			cells := strings.Fields(line)
			if len(cells) >= len(words) && strings.Join(cells[:len(words)], " ") == strings.Join(words, " ") {
				return
			}
		case <-deadline:
			t.Fatalf("no line %q, only:\n%s", words, strings.Join(seen, "\n"))
		}
	}
}

// TestWatchCacheBackends watches an object through its life.
func TestWatchCacheBackends(t *testing.T) {
	env := newKubectl(t).env(t)
	mustRun(t, env, "kubectl create -f minimal.yaml")
	w := startWatch(t, env, "kubectl get cb -w --output-watch-events")
	w.expect(t, "EVENT", "NAME", "TYPE", "READY", "MATCHED", "ENDPOINT", "PREFIXES", "LASTEVENT", "AGE")
	w.expect(t, "ADDED", "c", "LMCache", "<none>")
	mustRun(t, env, "kubectl create -f backend.yaml")
	w.expect(t, "ADDED", "a", "LMCache", "<none>")
	mustRun(t, env, "kubectl patch cb a --subresource=status --type=merge --patch-file=status.yaml")
	w.expect(t, "MODIFIED", "a", "LMCache", "True", "3", "a.default.svc.cluster.local:65432", "1200", "<none>")
	mustRun(t, env, "kubectl delete cb a")
	w.expect(t, "DELETED", "a", "LMCache", "True")
}

// TestWatchCacheIndices watches the live index, with and without a name, while
// an engine comes.
func TestWatchCacheIndices(t *testing.T) {
	kubectl := newKubectl(t)
	env := kubectl.env(t)
	watches := []*watching{
		startWatch(t, env, "kubectl get ci -w --output-watch-events"),
		startWatch(t, env, "kubectl get ci cluster-default -w --output-watch-events"),
	}
	for _, w := range watches {
		w.expect(t, "EVENT", "NAME", "PREFIXES", "CHANGED", "AGE")
		w.expect(t, "ADDED", "cluster-default", "0")
	}
	mustRun(t, env, "kubectl create -f minimal.yaml")
	startEngine(t, kubectl.server)
	for _, w := range watches {
		w.expect(t, "MODIFIED", "cluster-default", "4")
	}
}

// mustRun runs a command that has to succeed.
func mustRun(t *testing.T, env []string, line string) {
	t.Helper()
	if output, err := command(t.Context(), env, line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, output)
	}
}
