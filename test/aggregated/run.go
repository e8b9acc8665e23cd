/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/controlplane"
	"inferencecache.io/inference-cache/test/programs"
)

// kubectlVersion is the release that transcripts of kubectl are of.
const kubectlVersion = "v1.37.2"

// Environment is what Run gives to tests.
type Environment struct {
	// Cluster is the control plane, Installation the server behind it.
	Cluster      *controlplane.Cluster
	Installation *Installation
	// Programs is the directory of the programs of this module that were built, and
	// Kubectl the program kubectl.
	Programs, Kubectl string
}

// Run builds the programs, starts a control plane with an installation behind it,
// runs tests and ends everything. What options leave open is filled in: the
// cluster, the programs and the directory; nodes is how many fake nodes there are,
// more names further programs of cmd/ to build. It returns the exit code for
// TestMain and shows what went wrong, and the logs of the servers if a test failed.
func Run(tests func(*Environment) int, options Options, nodes int, more ...string) int {
	return programs.RunBuilt(func(built string) int {
		code, err := run(tests, built, options, nodes)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}, append([]string{programs.APIServer}, more...)...)
}

func run(tests func(*Environment) int, built string, options Options, nodes int) (code int, err error) {
	ctx := context.Background()
	directory, err := controlplane.Programs()
	if err != nil {
		return 0, err
	}
	kubectl, err := Kubectl(ctx)
	if err != nil {
		return 0, err
	}
	// A directory of its own, so that everything is gone before the programs are.
	dir, err := os.MkdirTemp("", "inference-cache-aggregated-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cluster, err := controlplane.Start(ctx, controlplane.Options{Programs: directory, Dir: filepath.Join(dir, "cluster"), Nodes: nodes})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	options.Cluster, options.Kubectl, options.Dir = cluster, kubectl, filepath.Join(dir, "installation")
	options.Program, options.Etcd = filepath.Join(built, programs.APIServer), filepath.Join(directory, "etcd")
	installation, err := Start(ctx, options)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, installation.Close()) }()
	if code = tests(&Environment{Cluster: cluster, Installation: installation, Programs: built, Kubectl: kubectl}); code != 0 {
		_, err = io.WriteString(os.Stderr, installation.Logs())
	}
	return code, err
}

// Kubectl returns the path of the kubectl that tests use: what the environment
// variable KUBECTL names, or what make has built. One of another release is an
// error, because transcripts would differ.
func Kubectl(ctx context.Context) (string, error) {
	program := os.Getenv("KUBECTL")
	if program == "" {
		root, err := repository()
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

// repository is the top of the source tree, without symbolic links.
func repository() (string, error) {
	recordings, err := captures.Root()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(filepath.Dir(recordings)))
}
