//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scale

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/programs"
)

// manifests are those of the manager without its Pods, for which processes stand, and
// without its webhook.
const manifests = `
resources: [%s/artifacts/manager]
patches:
- patch: |
    $patch: delete
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: inference-cache-manager, namespace: inference-cache-system}
- patch: |
    $patch: delete
    apiVersion: admissionregistration.k8s.io/v1
    kind: MutatingWebhookConfiguration
    metadata: {name: inference-cache-manager}
`

// managed is a manager that runs.
type managed struct {
	*programs.Process

	log, health string
}

// applyManifests gives managers their account and their rights.
func applyManifests(ctx context.Context) error {
	root, err := programs.Repository()
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(environment.dir)
	if err != nil {
		return err
	}
	// kustomize takes no absolute paths.
	relative, err := filepath.Rel(dir, root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), fmt.Appendf(nil, manifests, relative), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, environment.Kubectl, "--kubeconfig="+environment.Cluster.Kubeconfig(), "apply", "--server-side", "--kustomize="+dir)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apply the manifests: %w\n%s", err, output)
	}
	return nil
}

// startManager runs the program with its own account, and returns when it has read
// what is there.
func startManager(t *testing.T, name string) *managed {
	t.Helper()
	m := &managed{log: filepath.Join(environment.dir, name+".log")}
	kubeconfig := filepath.Join(environment.dir, name+".kubeconfig")
	err := environment.Installation.WriteKubeconfig(t.Context(), kubeconfig, aggregated.Namespace, "inference-cache-manager")
	if err != nil {
		t.Fatal(err)
	}
	if m.health, err = programs.FreeAddress(); err != nil {
		t.Fatal(err)
	}
	m.Process, err = new(programs.Starting).Start(programs.Command{
		Path: filepath.Join(environment.Programs, programs.Manager), Log: m.log, Tied: true,
		Args: []string{
			"--kubeconfig=" + kubeconfig, "--namespace=" + aggregated.Namespace, "--functional-probe=false",
			"--metrics-bind-address=0", "--webhook-port=0", "--health-probe-bind-address=" + m.health,
		},
		// The start is no proof of rights if an account of the environment helps.
		Env: []string{"KUBECONFIG="},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said last:\n%s", name, programs.Tail(m.log))
		}
		select {
		case <-m.Ended():
		default:
			if err := m.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	await(t, func() error { return m.ready(t.Context()) })
	return m
}

// ready is an error if the manager is not ready.
func (m *managed) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.health+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the manager is not ready: %s", response.Status)
	}
	return nil
}

// stop ends the manager as the kubelet does.
func (m *managed) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), programs.Patience)
	defer cancel()
	if err := m.Terminate(ctx); err != nil {
		t.Fatal(err)
	}
}
