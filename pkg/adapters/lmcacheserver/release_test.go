//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package lmcacheserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/test/programs"
)

// TestReleases probes the servers of the releases that hack/e2e-lmcache.sh installs,
// and again when they are gone.
func TestReleases(t *testing.T) {
	python, releases := os.Getenv("LMCACHE_PYTHON"), os.Getenv("LMCACHE_RELEASES")
	if python == "" || releases == "" {
		t.Fatal("LMCACHE_PYTHON and LMCACHE_RELEASES name no servers; run make e2e-lmcache")
	}
	tests := map[string]struct {
		want probe.Outcome
		says string
	}{
		"0.3.9": {probe.Unknown, "before 0.4"},
		"0.4.7": {probe.OK, "stored a block"},
		"0.5.6": {probe.OK, "stored a block"},
	}
	for release, test := range tests {
		t.Run(release, func(t *testing.T) {
			address, process := startRelease(t, python, filepath.Join(releases, release))
			expect := func(want probe.Outcome, says string) {
				t.Helper()
				err := programs.Poll(t.Context(), func() error {
					if got := Probe(t.Context(), target(address, "n1")); got.Outcome != want || !strings.Contains(got.Message, says) {
						return fmt.Errorf("%s: %s; want %s with %q", got.Outcome, got.Message, want, says)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			expect(test.want, test.says)
			if err := process.Kill(); err != nil {
				t.Fatal(err)
			}
			expect(probe.Failed, "Nothing listens")
		})
	}
}

// startRelease starts the server that is installed in a folder.
func startRelease(t *testing.T, python, folder string) (string, *programs.Process) {
	t.Helper()
	address, err := programs.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	process, err := (&programs.Starting{}).Start(programs.Command{
		Path: python, Args: []string{"-m", "lmcache.v1.server", host, port, "cpu"},
		Env: []string{"PYTHONPATH=" + folder, "LMCACHE_TRACK_USAGE=false"}, Log: log, Tied: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(programs.Tail(log))
		}
		select {
		case <-process.Ended():
		default:
			if err := process.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	return address, process
}
