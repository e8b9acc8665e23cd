/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"inferencecache.io/inference-cache/test/captures"
)

// kubectlVersion is the release that transcripts of kubectl are of.
const kubectlVersion = "v1.37.2"

// Kubectl returns the path of the kubectl that tests use: what the environment
// variable KUBECTL names, or what make has built. One of another release is an
// error, because what it prints may differ.
func Kubectl(ctx context.Context) (string, error) {
	program := os.Getenv("KUBECTL")
	if program == "" {
		root, err := Repository()
		if err != nil {
			return "", err
		}
		program = filepath.Join(root, "bin", "kubectl")
	}
	output, err := exec.CommandContext(ctx, program, "version", "--client", "-o", "json").Output()
	if err != nil {
		return "", fmt.Errorf("no usable kubectl, run make bin/kubectl: %w", err)
	}
	var version struct {
		ClientVersion struct{ GitVersion string }
	}
	if err := json.Unmarshal(output, &version); err != nil {
		return "", fmt.Errorf("ask kubectl for its version: %w", err)
	}
	if got := version.ClientVersion.GitVersion; got != kubectlVersion {
		return "", fmt.Errorf("%s is kubectl %s and tests need %s, run make bin/kubectl", program, got, kubectlVersion)
	}
	return program, nil
}

// Repository is the top of the source tree, without symbolic links.
func Repository() (string, error) {
	recordings, err := captures.Root()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(filepath.Dir(recordings)))
}
