/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"inferencecache.io/inference-cache/test/programs"
)

// Options say how a cluster is run.
type Options struct {
	// Programs is the directory of the programs; hack/tool.sh controlplane prints it.
	Programs string
	// Dir is for all files of the cluster. It must be missing or empty, and goes
	// with the cluster.
	Dir string
	// Nodes is how many fake nodes there are. Without any, Pods stay pending until
	// somebody creates one.
	Nodes int
	// APIServerArgs are further flags of kube-apiserver; one that is given again
	// replaces ours.
	APIServerArgs []string
	// Outlive lets the cluster live on when this process ends, until [End]. It
	// needs the proc file system of Linux.
	Outlive bool
}

// Cluster is a running control plane. Its methods but Stop are safe for
// concurrent use.
type Cluster struct {
	options     Options
	credentials *credentials
	addresses   addresses
	starting    programs.Starting
	running     []component
}

// addresses are where the programs listen, as host and port.
type addresses struct{ etcd, peer, apiServer, controllerManager, scheduler string }

// component is a program that was started.
type component struct {
	Process

	process *programs.Process
	log     string
}

// Start runs a cluster and waits until it is whole: every program answers, the
// nodes are ready, and Pods can be created in the default namespace. On an error
// nothing is left of it.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if err := checkPrograms(options.Programs); err != nil {
		return nil, err
	}
	if options.Outlive {
		if err := checkIdentity(); err != nil {
			return nil, err
		}
	}
	var err error
	if options.Dir, err = filepath.Abs(options.Dir); err != nil {
		return nil, err
	}
	if err := claim(options.Dir); err != nil {
		return nil, err
	}
	c := &Cluster{options: options}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a control plane: %w", err), c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	for _, address := range []*string{
		&c.addresses.etcd, &c.addresses.peer, &c.addresses.apiServer, &c.addresses.controllerManager, &c.addresses.scheduler,
	} {
		var err error
		if *address, err = programs.FreeAddress(); err != nil {
			return err
		}
	}
	stages, err := c.prepare()
	if err != nil {
		return err
	}
	if err := c.run(etcd, c.etcdFlags()); err != nil {
		return err
	}
	if err := c.awaitEtcd(ctx); err != nil {
		return err
	}
	if err := c.run(apiServer, c.apiServerFlags()); err != nil {
		return err
	}
	if err := c.awaitServer(ctx, apiServer, c.addresses.apiServer); err != nil {
		return err
	}
	if err := errors.Join(
		c.run(controllerManager, c.controllerManagerFlags()), c.run(scheduler, c.schedulerFlags()), c.run(kwok, c.kwokFlags(stages)),
	); err != nil {
		return err
	}
	if err := c.addNodes(ctx); err != nil {
		return err
	}
	if err := c.awaitServer(ctx, scheduler, c.addresses.scheduler); err != nil {
		return err
	}
	// That this file is there says that the cluster is whole.
	return c.credentials.writeKubeconfig(c.Kubeconfig(), c.url(), &clientcmdapi.AuthInfo{Token: c.credentials.token})
}

// prepare writes what the programs read, and returns the stages of kwok.
func (c *Cluster) prepare() ([]string, error) {
	secrets := filepath.Join(c.options.Dir, "credentials")
	for _, dir := range []string{secrets, c.logs()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var err error
	if c.credentials, err = makeCredentials(secrets); err != nil {
		return nil, err
	}
	if err := c.credentials.writeClients(c.url()); err != nil {
		return nil, err
	}
	return writeStages(c.options.Dir)
}

// run starts a program and records it, so that it can be found again.
func (c *Cluster) run(name program, flags []string) error {
	path, log := filepath.Join(c.options.Programs, string(name)), filepath.Join(c.logs(), string(name)+".log")
	process, err := c.starting.Start(programs.Command{Path: path, Args: flags, Log: log, Group: true, Tied: !c.options.Outlive})
	if err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	c.running = append(c.running, component{
		Process: Process{Name: string(name), ID: process.ID(), Command: append([]string{path}, flags...)},
		process: process, log: log,
	})
	return writeRecord(c.options.Dir, c.Processes())
}

// Stop kills what runs and removes the cluster's directory. That a program had
// ended before is an error. A second call does nothing.
func (c *Cluster) Stop() error {
	var failures []error
	for _, component := range slices.Backward(c.running) {
		if err := component.process.Kill(); err != nil {
			// The log is removed below.
			failures = append(failures, fmt.Errorf("stop %s: %w\n%s", component.Name, err, programs.Tail(component.log)))
		}
	}
	c.running = nil
	return errors.Join(append(failures, os.RemoveAll(c.options.Dir))...)
}

// Processes lists what runs, in the order of its start.
func (c *Cluster) Processes() []Process {
	processes := make([]Process, 0, len(c.running))
	for _, component := range c.running {
		processes = append(processes, component.Process)
	}
	return processes
}

// Kubeconfig is the file for clients that may do everything.
func (c *Cluster) Kubeconfig() string { return kubeconfigOf(c.options.Dir) }

// Config is for clients that may do everything. They are not throttled.
func (c *Cluster) Config() *rest.Config {
	config := c.anonymous()
	config.BearerToken = c.credentials.token
	return config
}

// ConfigFor is for clients that are a user in groups and have the rights that the
// cluster gives to those. They prove it by a certificate.
func (c *Cluster) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.credentials.clients.client(user, groups...)
	if err != nil {
		return nil, err
	}
	config := c.anonymous()
	config.CertData, config.KeyData = pair.certificate, pair.key
	return config, nil
}

func (c *Cluster) anonymous() *rest.Config {
	return &rest.Config{
		Host: c.url(), QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.credentials.clients.certificate},
	}
}

func (c *Cluster) url() string  { return "https://" + c.addresses.apiServer }
func (c *Cluster) logs() string { return filepath.Join(c.options.Dir, "logs") }

// port is the second half of an address.
func port(address string) string {
	_, port, _ := net.SplitHostPort(address) // FreeAddress made it
	return port
}
