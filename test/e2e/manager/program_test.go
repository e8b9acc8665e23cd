//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/programs"
)

// account is the name of the manager's ServiceAccount and of its workload.
const account = "inference-cache-manager"

// manifests are those of the manager without its Pods, for which processes stand. The
// cluster asks one of them about Pods, by its port.
const manifests = `
resources: [artifacts/manager]
patches:
- patch: |
    $patch: delete
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: inference-cache-manager, namespace: inference-cache-system}
- target: {kind: Service, name: inference-cache-manager}
  patch: |
    - {op: replace, path: /spec, value: {type: ExternalName, externalName: localhost}}
- target: {kind: MutatingWebhookConfiguration, name: inference-cache-manager}
  patch: |
    - {op: replace, path: /webhooks/0/clientConfig/service/port, value: %s}
`

// subscriberImage is what engine Pods get. No image is pulled.
const subscriberImage = "example.com/kvevent-subscriber:1"

// managed is a manager that runs.
type managed struct {
	*programs.Process

	log, metrics, health, webhook string
}

var starting programs.Starting

// takeOver makes a manager the one that tests and the cluster speak to.
func takeOver(ctx context.Context, m *managed) error {
	environment.manager = m
	return applyManifests(ctx, m.webhook)
}

// applyManifests gives managers their account and their rights, and has the cluster
// ask the one whose webhook listens at an address.
func applyManifests(ctx context.Context, webhook string) error {
	root, err := programs.Repository()
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(environment.dir)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "manifests")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// kustomize takes no absolute paths.
	relative, err := filepath.Rel(dir, root)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(webhook)
	if err != nil {
		return err
	}
	content := fmt.Sprintf(strings.Replace(manifests, "[artifacts/", "["+relative+"/artifacts/", 1), port)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(content), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, environment.Kubectl, "--kubeconfig="+environment.Cluster.Kubeconfig(), "apply", "--server-side", "--kustomize="+dir)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apply the manifests: %w\n%s", err, output)
	}
	return nil
}

// startManager runs the program with its own account, and returns when it is ready.
func startManager(ctx context.Context, name string, args ...string) (*managed, error) {
	kubeconfig := filepath.Join(environment.dir, name+".kubeconfig")
	err := environment.Installation.WriteKubeconfig(ctx, kubeconfig, aggregated.Namespace, account)
	if err != nil {
		return nil, err
	}
	m := &managed{log: filepath.Join(environment.dir, name+".log")}
	for _, address := range []*string{&m.metrics, &m.health, &m.webhook} {
		if *address, err = programs.FreeAddress(); err != nil {
			return nil, err
		}
	}
	_, port, err := net.SplitHostPort(m.webhook)
	if err != nil {
		return nil, err
	}
	m.Process, err = starting.Start(programs.Command{
		Path: filepath.Join(environment.Programs, programs.Manager), Log: m.log, Tied: true,
		Args: append([]string{
			"--kubeconfig=" + kubeconfig, "--namespace=" + aggregated.Namespace, "--functional-probe=false", "--log-verbosity=2",
			"--metrics-bind-address=" + m.metrics, "--health-probe-bind-address=" + m.health,
			"--webhook-port=" + port, "--kvevent-subscriber-image=" + subscriberImage,
		}, args...),
		// The start is no proof of rights if an account of the environment helps.
		Env: []string{"KUBECONFIG="},
	})
	if err != nil {
		return nil, err
	}
	if err := programs.Poll(ctx, func() error { return m.ready(ctx) }); err != nil {
		return nil, fmt.Errorf("wait for the manager: %w\n%s", err, programs.Tail(m.log))
	}
	return m, nil
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
func (m *managed) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, programs.Patience)
	defer cancel()
	return m.Terminate(ctx)
}
