/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// runAsServer makes the test binary behave as the program. It is the program:
// the same main function with the same command line.
const runAsServer = "INFERENCE_CACHE_TEST_RUN_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(runAsServer) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is a server in a process of its own.
type process struct {
	cmd    *exec.Cmd
	dir    string
	banner chan struct{}
	stderr lockedBuffer
	// exited is closed after err is set.
	exited chan struct{}
	err    error
}

// lockedBuffer is a buffer that is read while a process writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs the program. It is killed when the test ends.
func start(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	p := &process{dir: dir, banner: make(chan struct{}), exited: make(chan struct{})}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), runAsServer+"=1")
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "Try:") {
				close(p.banner)
			}
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(p.kill)
	return p
}

// output runs the program to its end and returns all that it wrote.
func output(t testing.TB, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), runAsServer+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// startStandalone runs a standalone server on free ports and waits until it serves.
func startStandalone(t testing.TB, dir string, more ...string) *process {
	t.Helper()
	p := start(t, dir, append([]string{"--standalone", "--data-dir=" + dir, "--secure-port=0", "--grpc-bind-address=127.0.0.1:0"}, more...)...)
	select {
	case <-p.banner:
	case <-p.exited:
		t.Fatalf("server ended before it served: %v\n%s", p.err, p.stderr.String())
	case <-time.After(2 * time.Minute):
		t.Fatalf("server does not serve\n%s", p.stderr.String())
	}
	return p
}

// kill ends the process the hard way and waits for its end.
func (p *process) kill() {
	// The error says that it has ended already.
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// stop asks the process to end and returns its result.
func (p *process) stop(t testing.TB) error {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(2 * time.Minute):
		t.Fatalf("server does not stop\n%s", p.stderr.String())
		return nil
	}
}

// client reaches the server through the kubeconfig that it wrote.
func (p *process) client(t testing.TB) versioned.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	c, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// residentBytes reads the memory of the process from its own metric, which works
// wherever the client library knows how to measure it.
func residentBytes(ctx context.Context, c versioned.Interface) (float64, error) {
	body, err := c.InferencecacheV1alpha1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(body)) {
		var bytes float64
		if n, _ := fmt.Sscanf(line, "process_resident_memory_bytes %g", &bytes); n == 1 {
			return bytes, nil
		}
	}
	return 0, fmt.Errorf("no metric process_resident_memory_bytes")
}
