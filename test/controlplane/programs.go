/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// program is one of the programs of a cluster, by the name of its file.
type program string

const (
	etcd              program = "etcd"
	apiServer         program = "kube-apiserver"
	controllerManager program = "kube-controller-manager"
	scheduler         program = "kube-scheduler"
	kwok              program = "kwok"
)

// allPrograms are in the order of their start.
var allPrograms = []program{etcd, apiServer, controllerManager, scheduler, kwok}

const (
	// serviceRange is where ClusterIPs come from; nothing routes them.
	serviceRange   = "10.96.0.0/16"
	firstServiceIP = "10.96.0.1"
	// podRange is where kwok takes the addresses of Pods from; likewise.
	podRange = "10.244.0.0/16"
)

// stages tell kwok what becomes of Nodes and Pods.
//
//go:embed stages/*.yaml
var stages embed.FS

// writeStages puts the stages where kwok can read them, and lists the files.
func writeStages(dir string) ([]string, error) {
	if err := os.CopyFS(dir, stages); err != nil {
		return nil, fmt.Errorf("write the stages of kwok: %w", err)
	}
	return filepath.Glob(filepath.Join(dir, "stages", "*.yaml"))
}

// Programs is the directory of the programs in tests: what the environment
// variable CONTROLPLANE names.
func Programs() (string, error) {
	dir := os.Getenv("CONTROLPLANE")
	if dir == "" {
		return "", errors.New("CONTROLPLANE does not name the directory of the control plane's programs; make e2e builds them and runs the tests")
	}
	return dir, checkPrograms(dir)
}

// checkPrograms tells how to get programs that are missing.
func checkPrograms(dir string) error {
	for _, p := range allPrograms {
		if _, err := os.Stat(filepath.Join(dir, string(p))); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%q has no %s; hack/tool.sh controlplane builds the programs and prints their directory", dir, p)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// etcdFlags: nothing is worth waiting for the disk.
func (c *Cluster) etcdFlags() []string {
	file := c.credentials.path
	client, peer := "https://"+c.addresses.etcd, "https://"+c.addresses.peer
	return []string{
		"--name=only", "--data-dir=" + filepath.Join(c.options.Dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=only=" + peer,
		"--client-cert-auth", "--trusted-ca-file=" + file("etcd-ca.crt"),
		"--cert-file=" + file("etcd.crt"), "--key-file=" + file("etcd.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + file("etcd-ca.crt"),
		"--peer-cert-file=" + file("etcd.crt"), "--peer-key-file=" + file("etcd.key"),
	}
}

// apiServerFlags turn on everything that aggregated servers rely on. The server
// does not publish its address as an endpoint, which must not be on loopback; and
// it sends what is aggregated to the name of a Service, not to addresses, which
// must not either.
func (c *Cluster) apiServerFlags() []string {
	file := c.credentials.path
	return append([]string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + port(c.addresses.apiServer),
		"--endpoint-reconciler-type=none", "--enable-aggregator-routing=false",
		"--etcd-servers=https://" + c.addresses.etcd, "--etcd-cafile=" + file("etcd-ca.crt"),
		"--etcd-certfile=" + file("etcd.crt"), "--etcd-keyfile=" + file("etcd.key"),
		"--tls-cert-file=" + file("server.crt"), "--tls-private-key-file=" + file("server.key"),
		"--client-ca-file=" + file("ca.crt"), "--token-auth-file=" + file("tokens.csv"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + file("service-accounts.key"),
		"--service-account-signing-key-file=" + file("service-accounts.key"),
		"--requestheader-client-ca-file=" + file("front-proxy-ca.crt"), "--requestheader-allowed-names=" + proxyUser,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-uid-headers=X-Remote-Uid",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + file(proxyUser+".crt"), "--proxy-client-key-file=" + file(proxyUser+".key"),
	}, c.options.APIServerArgs...)
}

// controllerManagerFlags: the default rate of requests would have the start of the
// controllers, each with an account of its own, take five seconds longer.
func (c *Cluster) controllerManagerFlags() []string {
	file := c.credentials.path
	return append(c.serverFlags(controllerManager, c.addresses.controllerManager),
		"--kube-api-qps=500", "--kube-api-burst=500", "--use-service-account-credentials", "--root-ca-file="+file("ca.crt"),
		"--service-account-private-key-file="+file("service-accounts.key"),
		"--cluster-signing-cert-file="+file("ca.crt"), "--cluster-signing-key-file="+file("ca.key"))
}

func (c *Cluster) schedulerFlags() []string { return c.serverFlags(scheduler, c.addresses.scheduler) }

// serverFlags are common to the clients of kube-apiserver that are servers
// themselves. Each is the only one of its kind, so there is nobody to elect.
func (c *Cluster) serverFlags(name program, address string) []string {
	file := c.credentials.path
	kubeconfig := file(string(name) + ".kubeconfig")
	return []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + port(address), "--leader-elect=false",
		"--tls-cert-file=" + file("server.crt"), "--tls-private-key-file=" + file("server.key"),
	}
}

// kwokFlags: leases are what keeps Nodes ready.
func (c *Cluster) kwokFlags(stages []string) []string {
	flags := []string{
		"--kubeconfig=" + c.credentials.path(string(kwok)+".kubeconfig"), "--manage-all-nodes=true",
		"--node-lease-duration-seconds=40", "--node-ip=127.0.0.1", "--cidr=" + podRange,
	}
	for _, stage := range stages {
		flags = append(flags, "--config="+stage)
	}
	return flags
}
