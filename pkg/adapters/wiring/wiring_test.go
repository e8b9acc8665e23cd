/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/mutation"
)

func TestReadCommandLine(t *testing.T) {
	env := []corev1.EnvVar{
		{Name: "PORT", Value: "1"}, {Name: "PORT", Value: "9000"},
		{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{}},
	}
	tests := map[string]struct {
		command, args []string
		want          []string
		refused       bool
	}{
		"arguments alone":          {args: []string{"--a", "b"}, want: []string{"--a", "b"}},
		"behind a program":         {command: []string{"/usr/bin/vllm", "serve"}, args: []string{"m", "--a"}, want: []string{"m", "--a"}},
		"all in the command":       {command: []string{"python3", "-m", "module", "--a"}, want: []string{"--a"}},
		"of an unknown program":    {command: []string{"/start", "--x"}, args: []string{"--a"}, want: []string{"--a"}},
		"behind an init":           {command: []string{"tini", "--", "vllm", "serve"}, args: []string{"--a"}, want: []string{"--a"}},
		"variables":                {args: []string{"--port=$(PORT)", "$(SECRET)", "$(NONE)", "$$(PORT)", "$", "$(PORT", "a$b"}, want: []string{"--port=9000", "$(SECRET)", "$(NONE)", "$(PORT)", "$", "$(PORT", "a$b"}},
		"a shell":                  {command: []string{"sh", "-c"}, args: []string{"vllm serve m"}, refused: true},
		"a login shell":            {command: []string{"/bin/bash", "-lc", "vllm serve m"}, refused: true},
		"a shell of the image":     {args: []string{"-c", "vllm serve m"}, refused: true},
		"a shell behind an init":   {command: []string{"tini", "--", "/bin/sh", "-ec", "x"}, refused: true},
		"-c of another program":    {command: []string{"vllm", "serve"}, args: []string{"m", "-c"}, want: []string{"m", "-c"}},
		"a script without a shell": {command: []string{"bash", "/start.sh"}, args: []string{"--a"}, want: []string{"--a"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			container := &corev1.Container{Name: "engine", Command: tc.command, Args: tc.args, Env: env}
			line, err := ReadCommandLine(container, "serve", "module")
			if tc.refused {
				if refusal := Refused(err); refusal == nil || refusal.Reason != ReasonShellCommand {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, line.Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCommandLineEdits replaces arguments where they stand.
// TestLongCommandLines refuses what no system starts, before its size makes reading it
// a matter of minutes or of memory.
func TestLongCommandLines(t *testing.T) {
	text := strings.Repeat("x", maxText)
	tests := map[string]struct {
		args []string
		env  []corev1.EnvVar
		fits bool
	}{
		"as long as can be":  {args: []string{text}, fits: true},
		"too long":           {args: []string{text, "x"}},
		"as many as can be":  {args: make([]string, maxItems), fits: true},
		"too many":           {args: make([]string, maxItems+1)},
		"many shells":        {args: slices.Repeat([]string{"-c"}, 1<<20)},
		"a variable":         {args: []string{"$(A)"}, env: []corev1.EnvVar{{Name: "A", Value: text}}, fits: true},
		"a variable twice":   {args: []string{"$(A)", "$(A)"}, env: []corev1.EnvVar{{Name: "A", Value: text}}},
		"variables that add": {args: []string{strings.Repeat("$(A)", maxText/4)}, env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 1<<20)}}},
		"none that ends":     {args: []string{strings.Repeat("$(", maxText/2)}, fits: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadCommandLine(&corev1.Container{Name: "engine", Args: tc.args, Env: tc.env}, "serve")
			switch refusal := Refused(err); {
			case tc.fits && err != nil:
				t.Error(err)
			case !tc.fits && (refusal == nil || refusal.Reason != ReasonEngineArguments):
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCommandLineEdits(t *testing.T) {
	command, args := []string{"vllm", "serve", "m"}, []string{"--a", "b"}
	container := &corev1.Container{Command: slices.Clone(command), Args: slices.Clone(args)}
	line, err := ReadCommandLine(container, "serve")
	if err != nil {
		t.Fatal(err)
	}
	line.Replace(0, "n")
	line.Replace(2, "c")
	line.Append("--d")
	want := &corev1.Container{Command: []string{"vllm", "serve", "n"}, Args: []string{"--a", "c", "--d"}}
	if diff := cmp.Diff(want, container); diff != "" {
		t.Errorf("container (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"n", "--a", "c", "--d"}, line.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

// FuzzExpand holds that no text makes the reader panic, and that one without a
// dollar stays.
func FuzzExpand(f *testing.F) {
	corpus := mutation.New(f, 2000)
	for _, seed := range []string{"$(A)", "$$(A)", "x$(A)y$(B)$", "$()", "$(A"} {
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t *testing.T, text string) {
		const limit = 1 << 10
		got, fits := expand(text, map[string]string{"A": "value"}, limit)
		if !strings.Contains(text, "$") && fits && got != text {
			t.Errorf("%q became %q", text, got)
		}
		if fits != (len(got) <= limit) {
			t.Errorf("%d bytes fit into %d: %t", len(got), limit, fits)
		}
	})
}

func TestLoopback(t *testing.T) {
	tests := map[string]string{
		"tcp://*:5557": "tcp://127.0.0.1:5557", "tcp://0.0.0.0:1": "tcp://127.0.0.1:1", "tcp://[::]:65535": "tcp://[::1]:65535",
		"tcp://127.0.0.1:5557": "", "tcp://collector:5557": "", "ipc:///run/kv": "", "inproc://x": "", "tcp://*": "",
		"tcp://*:0": "", "tcp://*:65536": "", "tcp://*:x": "", "": "",
	}
	for endpoint, want := range tests {
		if got, ok := Loopback(endpoint); got != want || ok != (want != "") {
			t.Errorf("%q is %q, %v, want %q", endpoint, got, ok, want)
		}
	}
}

// TestReplayEndpoint keeps the replay sockets of all ranks away from the others.
func TestReplayEndpoint(t *testing.T) {
	for ranks, want := range map[int]string{1: "tcp://*:5657", 100: "tcp://*:5657", 200: "tcp://*:5757"} {
		if got := ReplayEndpoint(ranks); got != want {
			t.Errorf("%d ranks: %s, want %s", ranks, got, want)
		}
	}
}

func TestMetricsURL(t *testing.T) {
	tests := map[string]struct {
		port  int
		https bool
		want  string
	}{
		"the default": {want: "http://127.0.0.1:8000/metrics"}, "given": {port: 9000, want: "http://127.0.0.1:9000/metrics"},
		"not known": {port: -1}, "HTTPS": {https: true},
	}
	for name, tc := range tests {
		if got := MetricsURL(tc.port, 8000, tc.https); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestHostMemory(t *testing.T) {
	for capacity, want := range map[string]int64{"": 7, "1": 1, "1Gi": 1, "1025Mi": 2, "64Gi": 64, "1G": 1} {
		config := &v1alpha1.LMCacheConfig{}
		if capacity != "" {
			config.HostMemory = &v1alpha1.LMCacheHostMemory{Capacity: ptr.To(resource.MustParse(capacity))}
		}
		r := Request{Backend: &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{LMCache: config}}}
		if got, given := r.HostMemory(7); got != want || given != (capacity != "") {
			t.Errorf("%q is %d GiB, %v, want %d", capacity, got, given, want)
		}
	}
}

func TestSetEnv(t *testing.T) {
	container := &corev1.Container{Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B"}, {Name: "A", Value: "2"}}}
	SetEnv(container, corev1.EnvVar{Name: "A", Value: "3"})
	SetEnvDefault(container, "B", "kept out")
	SetEnvDefault(container, "C", "4")
	UnsetEnv(container, "none")
	want := []corev1.EnvVar{{Name: "A", Value: "3"}, {Name: "B"}, {Name: "C", Value: "4"}}
	if diff := cmp.Diff(want, container.Env); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestRefused(t *testing.T) {
	wrapped := fmt.Errorf("wrapped: %w", Refuse(ReasonEndpoint, "no port in %q", "x"))
	if refusal := Refused(wrapped); refusal == nil || refusal.Error() != `endpoint: no port in "x"` {
		t.Errorf("refusal %v", refusal)
	}
	if Refused(errors.New("other")) != nil || Refused(nil) != nil {
		t.Error("found a refusal where there is none")
	}
}
