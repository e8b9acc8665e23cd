/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/test/controlplane"
	"inferencecache.io/inference-cache/test/programs"
)

// Names that the manifests give.
const (
	// Namespace is where everything of the server lives.
	Namespace = "inference-cache-system"
	// Name is that of the ServiceAccount, the Service of the API and the roles.
	Name = "inference-cache-apiserver"
	// IndexService is the Service of the gRPC port.
	IndexService = "inference-cache-index"
	// APIService is how the cluster knows the group.
	APIService = "v1alpha1.inferencecache.io"
)

// Options say what is installed, and how it is run.
type Options struct {
	// Cluster is what the server is installed in. It has at most one Installation.
	Cluster *controlplane.Cluster
	// Program is the server's file, Kubectl that of the program that applies
	// manifests.
	Program, Kubectl string
	// Dir is for all files. It is made if it is missing, and goes with the
	// installation.
	Dir string
	// Replicas is how many servers there are; 0 means one.
	Replicas int
	// Etcd is the file of the etcd that several replicas need.
	Etcd string
	// Args are further flags of every replica; one that is given again replaces
	// ours.
	Args []string
	// GivenCertificate has the servers use a certificate that was made for them, as
	// with cert-manager, rather than their own.
	GivenCertificate bool
	// Strict has Run start a cluster in which only who may delete an object says who
	// owns it, which the server may not for its APIService. Some distributions have
	// that on.
	Strict bool
	// APIServerArgs are flags of the cluster's own API server, for Run.
	APIServerArgs []string
}

// Installation is a server in a cluster. Its methods are safe for concurrent use,
// but for those that Start calls, and Close.
type Installation struct {
	options  Options
	client   kubernetes.Interface
	starting programs.Starting
	replicas []*Replica
	// address is where the aggregation layer sends requests to.
	address   string
	forwarder *forwarder
	storage   store
	store     *programs.Process
	authority []byte
}

// Start installs the server, runs it, and returns when the cluster serves the
// group. On an error nothing is left running; what was applied to the cluster
// stays there.
func Start(ctx context.Context, options Options) (*Installation, error) {
	i, err := New(options)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{i.Apply, i.Run, i.Register, i.Await} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("install in a cluster: %w\n%s", err, i.Logs()), i.Close())
		}
	}
	return i, nil
}

// New takes addresses and a directory, and has no other effect.
func New(options Options) (*Installation, error) {
	client, err := kubernetes.NewForConfig(options.Cluster.Config())
	if err != nil {
		return nil, err
	}
	options.Replicas = max(1, options.Replicas)
	i := &Installation{options: options, client: client}
	for n := range options.Replicas {
		dir := filepath.Join(options.Dir, fmt.Sprintf("replica-%d", n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		r := &Replica{installation: i, dir: dir}
		for _, address := range []*string{&r.api, &r.grpc} {
			if *address, err = programs.FreeAddress(); err != nil {
				return nil, err
			}
		}
		i.replicas = append(i.replicas, r)
	}
	i.address = i.replicas[0].api
	if options.Replicas > 1 {
		if i.forwarder, err = newForwarder(i.replicas); err != nil {
			return nil, err
		}
		i.address = i.forwarder.address()
	}
	if options.GivenCertificate {
		if err := i.makeCertificate(); err != nil {
			return nil, errors.Join(err, i.Close())
		}
	}
	return i, nil
}

// Run starts all replicas and returns when they are ready. The manifests have to
// be applied before.
func (i *Installation) Run(ctx context.Context) error {
	if err := i.writeKubeconfig(ctx); err != nil {
		return fmt.Errorf("give the server its account: %w", err)
	}
	if i.options.Replicas > 1 {
		if err := i.startStore(ctx); err != nil {
			return err
		}
	}
	for _, r := range i.replicas {
		if err := r.launch(); err != nil {
			return err
		}
	}
	for _, r := range i.replicas {
		if err := r.awaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Cluster is what the server is installed in.
func (i *Installation) Cluster() *controlplane.Cluster { return i.options.Cluster }

// Replicas are the servers.
func (i *Installation) Replicas() []*Replica { return i.replicas }

// Port is that of loopback which requests for the group are sent to: the port of
// the APIService.
func (i *Installation) Port() string { return port(i.address) }

// Logs returns the last that each replica said.
func (i *Installation) Logs() string {
	var text strings.Builder
	for n, r := range i.replicas {
		fmt.Fprintf(&text, "replica %d, %s:\n%s\n", n, r.Log(), programs.Tail(r.Log()))
	}
	return text.String()
}

// Close kills what runs and removes the directory. That a server had ended by
// itself is an error. The cluster stays as it is.
func (i *Installation) Close() error {
	var failures []error
	for _, r := range i.replicas {
		failures = append(failures, r.close())
	}
	if i.forwarder != nil {
		failures = append(failures, i.forwarder.close())
	}
	if i.store != nil {
		failures = append(failures, i.store.Kill())
		i.store = nil
	}
	return errors.Join(append(failures, os.RemoveAll(i.options.Dir))...)
}

// port is the second half of an address that FreeAddress made.
func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
