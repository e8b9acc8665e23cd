/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"inferencecache.io/inference-cache/test/captures"
)

// programs are the binaries under test.
type programs struct {
	server, subscriber string
	// starting keeps sockets from being bound anew while a program starts: for a
	// moment it has a copy of all that are being closed.
	starting sync.Mutex
}

// binaries is set by TestMain, before any test runs.
var binaries programs

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runAll builds the programs and runs the tests.
func runAll(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "inference-cache-processes-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binaries.server, binaries.subscriber = filepath.Join(dir, "server"), filepath.Join(dir, "subscriber")
	for source, target := range map[string]string{"./cmd/apiserver": binaries.server, "./cmd/kvevent-subscriber": binaries.subscriber} {
		if err := build(source, target); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

func build(source, target string) error {
	recordings, err := captures.Root()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", target, source)
	cmd.Dir = filepath.Dir(filepath.Dir(recordings))
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", source, err, output)
	}
	return nil
}

// process is a program that a test has started.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

// start runs a program that adds what it says to a log.
func start(log, program string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Stdout, cmd.Stderr = file, file
	binaries.starting.Lock()
	defer binaries.starting.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &process{cmd: cmd, log: file}, nil
}

// kill ends the program with SIGKILL.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("the program ended before it was killed; see %s: %w", p.log.Name(), err)
	}
	_ = p.cmd.Wait() // it was killed
	return p.log.Close()
}

// tail returns the last lines of a log.
func tail(log string) string {
	const lines = 20
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
