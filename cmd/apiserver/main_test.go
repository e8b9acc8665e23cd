/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/version"
)

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct {
		args []string
		// fails is true when the program shall end with an error.
		fails bool
		want  string
	}{
		"version":               {args: []string{"--version"}, want: "inference-cache-apiserver version " + version.Describe() + "\n"},
		"help":                  {args: []string{"--help"}, want: "--standalone"},
		"no way to run":         {args: nil, fails: true, want: "--data-dir: required without --etcd-servers"},
		"unknown flag":          {args: []string{"--unknown"}, fails: true, want: "unknown flag: --unknown"},
		"argument":              {args: []string{"argument"}, fails: true, want: "argument"},
		"network in standalone": {args: []string{"--standalone", "--data-dir=" + dir, "--bind-address=0.0.0.0"}, fails: true, want: "serves loopback addresses only, not 0.0.0.0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := output(t, tc.args...)
			if (err != nil) != tc.fails {
				t.Errorf("ended with %v, want an error: %t", err, tc.fails)
			}
			if !strings.Contains(out, tc.want) {
				t.Errorf("does not say %q:\n%s", tc.want, out)
			}
		})
	}
}

func TestSecondProcessOnSameDataDirectory(t *testing.T) {
	dir := t.TempDir()
	first := startStandalone(t, dir)
	out, err := output(t, "--standalone", "--data-dir="+dir, "--secure-port=0", "--grpc-bind-address=127.0.0.1:0")
	if err == nil {
		t.Error("second process ended without an error")
	}
	if want := fmt.Sprintf("data directory %s is in use by another server (pid %d ", dir, first.cmd.Process.Pid); !strings.Contains(out, want) {
		t.Errorf("does not say %q:\n%s", want, out)
	}
	if err := first.stop(t); err != nil {
		t.Errorf("first server did not stop cleanly: %v\n%s", err, first.stderr.String())
	}
}

func TestStopWithOpenWatch(t *testing.T) {
	p := startStandalone(t, t.TempDir())
	w, err := p.client(t).InferencecacheV1alpha1().CacheBackends("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := p.stop(t); err != nil {
		t.Errorf("server did not stop cleanly: %v\n%s", err, p.stderr.String())
	}
	if log := p.stderr.String(); strings.Contains(log, "\nE") || strings.Contains(log, "panic") {
		t.Errorf("a normal stop logs errors:\n%s", log)
	}
}

// BenchmarkStart measures from the start of the process to its readiness, and
// what it holds then.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	var resident float64
	for b.Loop() {
		p := startStandalone(b, dir)
		b.StopTimer()
		bytes, err := residentBytes(b.Context(), p.client(b))
		if err != nil {
			b.Fatal(err)
		}
		resident = max(resident, bytes)
		if err := p.stop(b); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(resident/(1<<20), "MiB/idle")
}
