/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"

	"inferencecache.io/inference-cache/test/programs"
)

// readyzPath is what the readiness probe asks for.
const readyzPath = "/readyz"

// Replica is a server through all of its lives. It is safe for concurrent use.
type Replica struct {
	installation *Installation
	dir          string
	api, grpc    string

	mu sync.Mutex
	// process is nil while the replica is down.
	process *programs.Process
}

// Address is where it serves the API, as host and port.
func (r *Replica) Address() string { return r.api }

// GRPCAddress is where it takes reports and answers lookups.
func (r *Replica) GRPCAddress() string { return r.grpc }

// Log is the file with what it said in all of its lives.
func (r *Replica) Log() string { return filepath.Join(r.dir, "server.log") }

// Running reports whether it was started and not stopped or killed since.
func (r *Replica) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process != nil
}

// Start starts a replica that is down, and returns when it is ready.
func (r *Replica) Start(ctx context.Context) error {
	if err := r.launch(); err != nil {
		return err
	}
	return r.awaitReady(ctx)
}

// launch starts the replica and does not wait for it.
func (r *Replica) launch() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		return errors.New("the replica runs already")
	}
	var err error
	r.process, err = r.installation.starting.Start(programs.Command{
		Path: r.installation.options.Program, Args: r.flags(), Log: r.Log(), Tied: true,
		// The start is no proof of rights if an account of the environment helps.
		Env: []string{"KUBECONFIG="},
	})
	return err
}

func (r *Replica) flags() []string {
	i := r.installation
	kubeconfig := i.path(kubeconfigFile)
	flags := []string{
		// No name server stands between replicas and engines here.
		"--index-warm-up=10s",
		"--bind-address=127.0.0.1", "--secure-port=" + port(r.api), "--grpc-bind-address=" + r.grpc,
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	}
	if i.options.Replicas > 1 {
		flags = append(flags, "--etcd-servers="+i.storeURL())
	} else {
		flags = append(flags, "--data-dir="+filepath.Join(r.dir, "data"))
	}
	if i.options.GivenCertificate {
		flags = append(flags, "--tls-cert-file="+i.path(certificateFile), "--tls-private-key-file="+i.path(keyFile))
	}
	return append(flags, i.options.Args...)
}

// take returns the running process, which is then down for everybody else.
func (r *Replica) take() (*programs.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	process := r.process
	r.process = nil
	if process == nil {
		return nil, errors.New("the replica is down")
	}
	return process, nil
}

// Stop stops the replica as the kubelet does, and returns when it has ended.
func (r *Replica) Stop(ctx context.Context) error {
	process, err := r.take()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, programs.Patience)
	defer cancel()
	return process.Terminate(ctx)
}

// Kill ends the replica at once.
func (r *Replica) Kill() error {
	process, err := r.take()
	if err != nil {
		return err
	}
	return process.Kill()
}

// close kills the replica if it runs.
func (r *Replica) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		return nil
	}
	process := r.process
	r.process = nil
	return process.Kill()
}

// awaitReady waits for the readiness probe.
func (r *Replica) awaitReady(ctx context.Context) error {
	r.mu.Lock()
	process := r.process
	r.mu.Unlock()
	if process == nil {
		return errors.New("the replica is down")
	}
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	probe := newProbe()
	defer probe.CloseIdleConnections()
	err := programs.Poll(ctx, func() error {
		select {
		case <-process.Ended():
			giveUp()
			return errors.New("the server has ended")
		default:
			return ready(ctx, probe, r.api)
		}
	})
	if err != nil {
		return fmt.Errorf("wait for the server at %s: %w\n%s", r.api, err, programs.Tail(r.Log()))
	}
	return nil
}

// newProbe returns a client that asks what a kubelet asks: without a name to
// verify the certificate by, and over a new connection each time.
func newProbe() *http.Client {
	return &http.Client{
		Timeout: programs.CallTimeout,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as a kubelet does; nothing is learned but readiness
		},
	}
}

// ready is an error if the server at an address is not ready.
func ready(ctx context.Context, probe *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+readyzPath, http.NoBody)
	if err != nil {
		return err
	}
	response, err := probe.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s\n%s", response.Status, body)
	}
	return err
}
