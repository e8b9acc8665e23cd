//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/test/controlplane"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	namespace = "inference-cache-system"
	workload  = "inference-cache-apiserver"
	// registration is the APIService.
	registration = "v1alpha1.inferencecache.io"
)

// environment is what all tests share.
var environment struct {
	cluster *controlplane.Cluster
	// program is the API server, kubectl what the scripts call, artifacts their
	// folder.
	program, kubectl, artifacts string
}

func TestMain(m *testing.M) {
	os.Exit(programs.RunBuilt(func(built string) int {
		code, err := run(m, built)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}, programs.APIServer))
}

func run(m *testing.M, built string) (code int, err error) {
	ctx := context.Background()
	directory, err := controlplane.Programs()
	if err != nil {
		return 0, err
	}
	repository, err := programs.Repository()
	if err != nil {
		return 0, err
	}
	environment.program, environment.artifacts = filepath.Join(built, programs.APIServer), filepath.Join(repository, "artifacts")
	if environment.kubectl, err = programs.Kubectl(ctx); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "inference-cache-install-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	environment.cluster, err = controlplane.Start(ctx, controlplane.Options{Programs: directory, Dir: filepath.Join(dir, "cluster"), Nodes: 2})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, environment.cluster.Stop()) }()
	return m.Run(), nil
}

// clients are an administrator's.
func clients(t *testing.T) (kubernetes.Interface, dynamic.Interface) {
	t.Helper()
	typed, err := kubernetes.NewForConfig(environment.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(environment.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	return typed, untyped
}

// command is one that has the cluster's kubeconfig and our kubectl.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+environment.cluster.Kubeconfig(), "KUBECTL="+environment.kubectl)
	return cmd
}

// kubectl runs it and fails the test if it fails.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	output, err := command(t, environment.kubectl, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, output)
	}
	return string(output)
}

// script runs one of the scripts.
func script(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	output, err := command(t, filepath.Join(environment.artifacts, name), args...).CombinedOutput()
	return string(output), err
}

// mustScript fails the test if the script fails.
func mustScript(t *testing.T, name string, args ...string) string {
	t.Helper()
	output, err := script(t, name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
	return output
}
