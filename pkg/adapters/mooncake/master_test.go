//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/programs"
)

// lender is an engine as far as the master sees it: a client that lends 64 MiB,
// until its input ends.
const lender = `
import sys
from mooncake.store import MooncakeDistributedStore
own, metadata, master = sys.argv[1:]
store = MooncakeDistributedStore()
code = store.setup(own, metadata, 64 << 20, 16 << 20, "tcp", "", master)
print("ready" if code == 0 else "code %s" % code, flush=True)
sys.stdin.read()
store.close()
`

// realMaster is a mooncake_master that was started as it is rendered, on ports that
// were free.
type realMaster struct {
	process *programs.Process
	// addresses are those of the master by the port that it is rendered with.
	addresses map[int32]string
}

// python returns the interpreter of the integration tests, which lies beside the
// programs of its packages.
func python(t *testing.T) string {
	t.Helper()
	program := os.Getenv("PYTHON")
	if program == "" {
		t.Fatal("PYTHON names no interpreter with Mooncake; run make test-integration, or set it to the python3 in the folder that hack/python-env.sh prints")
	}
	return program
}

func start(t *testing.T) *realMaster {
	t.Helper()
	m := &realMaster{addresses: map[int32]string{}}
	var args []string
	for _, flag := range []struct {
		name string
		port int32
	}{{"rpc_port", Port}, {"metrics_port", MetricsPort}, {"http_metadata_server_port", MetadataPort}} {
		address, err := programs.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		m.addresses[flag.port] = address
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--"+flag.name+"="+port)
	}
	args = append(renderedArgs(t), append(args, "--rpc_address=127.0.0.1", "--metrics_host=127.0.0.1")...)
	log := filepath.Join(t.TempDir(), "log")
	var err error
	m.process, err = (&programs.Starting{}).Start(programs.Command{
		Path: filepath.Join(filepath.Dir(python(t)), "mooncake_master"), Args: args, Log: log, Tied: true,
	})
	if err != nil {
		t.Fatalf("no mooncake_master, make it with: hack/python-env.sh: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("a master that does not start may lack: apt-get install libibverbs1\n" + programs.Tail(log))
		}
		select {
		case <-m.process.Ended():
		default:
			if err := m.process.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	m.await(t, probe.Failed, "No engine has joined")
	return m
}

// renderedArgs are the arguments of the container.
func renderedArgs(t *testing.T) []string {
	t.Helper()
	objects, err := Render(workload.Input{Backend: &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "models", UID: "1"},
		Spec: v1alpha1.CacheBackendSpec{RemoteStorage: &v1alpha1.RemoteStorage{
			Provider: v1alpha1.StorageProviderMooncake, Ownership: v1alpha1.StorageOwnershipManaged,
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return objects.Deployment.Spec.Template.Spec.Containers[0].Args
}

func (m *realMaster) probe(ctx context.Context) probe.Result {
	addresses := map[string]string{}
	for port, address := range m.addresses {
		addresses[fmt.Sprintf("master:%d", port)] = address
	}
	return Probe(ctx, probe.Target{Address: fmt.Sprintf("master:%d", Port), Dial: dialling(addresses)})
}

// await waits until a probe has an outcome.
func (m *realMaster) await(t *testing.T, want probe.Outcome, says string) {
	t.Helper()
	err := programs.Poll(t.Context(), func() error {
		if got := m.probe(t.Context()); got.Outcome != want || !strings.Contains(got.Message, says) {
			return fmt.Errorf("%s: %s; want %s with %q", got.Outcome, got.Message, want, says)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lend starts a client that lends memory, and returns what ends it.
func (m *realMaster) lend(t *testing.T) (stop func()) {
	t.Helper()
	own, err := programs.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	client := exec.CommandContext(t.Context(), python(t), "-c", lender, own, "http://"+m.addresses[MetadataPort]+"/metadata", m.addresses[Port])
	input, err := client.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	said, ready := []string{}, false
	for lines := bufio.NewScanner(output); !ready && lines.Scan(); {
		said = append(said, lines.Text())
		ready = lines.Text() == "ready"
	}
	if !ready {
		t.Fatalf("the client does not lend: %s", strings.Join(said, "\n"))
	}
	go func() { _, _ = io.Copy(io.Discard, output) }() // it goes on to say what nobody needs
	return func() {
		t.Helper()
		_ = input.Close()
		if err := client.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// TestRealMaster takes a master from no memory to some and back, and ends it.
func TestRealMaster(t *testing.T) {
	m := start(t)
	stop := m.lend(t)
	m.await(t, probe.OK, "1 segments of 67108864 bytes")
	stop()
	m.await(t, probe.Failed, "No engine")
	if err := m.process.Kill(); err != nil {
		t.Fatal(err)
	}
	m.await(t, probe.Failed, "Nothing listens")
}
