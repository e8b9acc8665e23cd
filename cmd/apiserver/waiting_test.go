/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestStopsWhileItWaits ends a server that waits for a cluster which does not answer:
// whoever stops it is not told of a failure.
func TestStopsWhileItWaits(t *testing.T) {
	dir := t.TempDir()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := nobody.Addr().String()
	if err := nobody.Close(); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	config := clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"gone": {Server: "https://" + address}},
		Contexts:       map[string]*clientcmdapi.Context{"gone": {Cluster: "gone"}},
		CurrentContext: "gone",
	}
	if err := clientcmd.WriteToFile(config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, "--data-dir="+filepath.Join(dir, "data"), "--grpc-bind-address=127.0.0.1:0",
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig)
	p.awaitLog(t, "Asking the cluster for the rights of this server failed")
	if err := p.stop(t); err != nil {
		t.Errorf("it ended with %v\n%s", err, p.stderr.String())
	}
}

// TestStopsWhileItStarts ends a server while its own clients connect to it: nobody
// waits for them. It is a race, so there are several tries.
func TestStopsWhileItStarts(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		p := start(t, dir, "--standalone", "--data-dir="+dir, "--secure-port=0", "--grpc-bind-address=127.0.0.1:0", "-v=3")
		p.awaitLog(t, "Listing and watching")
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.exited:
		case <-time.After(30 * time.Second): // after which a kubelet kills
			t.Fatalf("server does not stop\n%s", p.stderr.String())
		}
		if p.err != nil {
			t.Errorf("it ended with %v\n%s", p.err, p.stderr.String())
		}
	}
}

// awaitLog waits until the process has logged a text.
func (p *process) awaitLog(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(p.stderr.String(), text) {
		select {
		case <-p.exited:
			t.Fatalf("ended by itself: %v\n%s", p.err, p.stderr.String())
		case <-deadline:
			t.Fatalf("does not say %q\n%s", text, p.stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
