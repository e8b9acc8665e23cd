//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
)

// wantVersion is the release that the transcripts were written with.
const wantVersion = "v1.37.2"

// kubectl is a program together with the server that it talks to.
type kubectl struct {
	program string
	server  *apiservertest.Server
}

// newKubectl starts a server and finds the program: the one that the environment
// variable KUBECTL names, or else the one that make has built.
func newKubectl(t *testing.T) *kubectl {
	t.Helper()
	program := os.Getenv("KUBECTL")
	if program == "" {
		program = filepath.Join("..", "..", "..", "bin", "kubectl")
	}
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), program, "version", "--client", "-o", "json").Output()
	if err != nil {
		t.Fatalf("no usable kubectl, run `make bin/kubectl`: %v", err)
	}
	var version struct {
		ClientVersion struct{ GitVersion string }
	}
	if err := json.Unmarshal(output, &version); err != nil {
		t.Fatal(err)
	}
	if got := version.ClientVersion.GitVersion; got != wantVersion {
		t.Fatalf("%s is kubectl %s and the transcripts are of %s, run `make bin/kubectl`", program, got, wantVersion)
	}
	return &kubectl{program: program, server: apiservertest.Start(t)}
}

// env returns the environment of a user: the kubeconfig of the server, an empty
// home and the program first on the path.
func (k *kubectl) env(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"HOME=" + home,
		"TMPDIR=" + home,
		"KUBECONFIG=" + k.server.Kubeconfig,
		"PATH=" + filepath.Dir(k.program) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"LC_ALL=C",
		"TZ=UTC",
	}
}

// command returns a shell command line in the environment env. It works in
// testdata, where the manifests are.
func command(ctx context.Context, env []string, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = "testdata"
	cmd.Env = env
	return cmd
}
