//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// python returns the interpreter to use, after a look whether it has pyzmq.
func python(t *testing.T) string {
	t.Helper()
	interpreter := cmp.Or(os.Getenv("PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), interpreter, "-c", "import zmq").CombinedOutput(); err != nil {
		t.Fatalf("these tests need python3 with pyzmq; install it with: python3 -m pip install pyzmq (%v: %s)", err, out)
	}
	return interpreter
}

// peer starts testdata/peer.py, which ends with the test, and returns the
// endpoint that it has bound.
func peer(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), python(t), append([]string{"testdata/peer.py"}, args...)...)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	endpoint, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the peer has bound no endpoint: %v", err)
	}
	return strings.TrimSpace(endpoint)
}
