/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// Programs of this module that tests run.
const (
	APIServer  = "apiserver"
	Manager    = "manager"
	Subscriber = "kvevent-subscriber"
)

// Build compiles the named programs of cmd/ into a directory, each to a file of
// its name.
func Build(ctx context.Context, dir string, names ...string) error {
	root, err := Repository()
	if err != nil {
		return err
	}
	for _, name := range names {
		cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name), "./cmd/"+name)
		cmd.Dir = root
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", name, err, output)
		}
	}
	return nil
}

// Starting keeps sockets from being bound anew while a program starts: for a
// moment the new process has a copy of all that are being closed. Who binds an
// address again that was closed in this process holds it meanwhile.
type Starting struct{ sync.Mutex }

// Command says how a program is run.
type Command struct {
	// Path is the file to run, Args what it is given.
	Path string
	Args []string
	// Env is added to the environment of the test.
	Env []string
	// Log is the file to which all that the program says is added.
	Log string
	// Group runs the program in a process group of its own, with which it is
	// killed: for one that starts others. A terminal's interrupt does not reach
	// it then.
	Group bool
	// Tied has the kernel kill the program when this process ends, however it
	// ends: for one that is too much to be left behind by a test that crashes.
	// Only Linux can do that; elsewhere it changes nothing.
	Tied bool
}

// Process is a program that a test has started.
type Process struct {
	cmd   *exec.Cmd
	log   *os.File
	group bool
	// ended is closed when the program has ended, by itself or not.
	ended chan struct{}
}

// Start runs a program.
func (s *Starting) Start(c Command) (*Process, error) {
	file, err := os.OpenFile(c.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), c.Path, c.Args...)
	cmd.Stdout, cmd.Stderr = file, file
	cmd.Env = append(os.Environ(), c.Env...)
	if c.Group {
		ownGroup(cmd)
	}
	if c.Tied {
		tie(cmd)
	}
	s.Lock()
	defer s.Unlock()
	p := &Process{cmd: cmd, log: file, group: c.Group, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		defer close(p.ended)
		if c.Tied {
			// The kernel ties a program to the thread that started it. A locked
			// thread does nothing else and ends with this function.
			runtime.LockOSThread()
		}
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is asked of cmd.ProcessState
		}
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return p, nil
}

// ID is the program's process id. Nobody else can get it before the program has
// ended.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Ended is closed when the program has ended, by itself or because it was killed.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Kill ends the program with SIGKILL, and its group if it has one. It is an error
// if the program has ended before.
func (p *Process) Kill() error {
	defer func() { _ = p.log.Close() }() // the program has its own descriptor
	early := false
	select {
	case <-p.ended:
		early = true
	default:
	}
	var err error
	if p.group {
		err = killGroup(p.cmd)
	} else if err = p.cmd.Process.Kill(); errors.Is(err, os.ErrProcessDone) {
		early, err = true, nil
	}
	<-p.ended
	if early {
		return errors.Join(fmt.Errorf("the program ended before it was killed (%s); see %s", p.cmd.ProcessState, p.log.Name()), err)
	}
	return err
}

// Terminate asks the program to end, with SIGTERM, and waits until it has. One
// that does not end before ctx does is killed, which is an error, and so is a
// program that says it failed or has ended before.
func (p *Process) Terminate(ctx context.Context) error {
	select {
	case <-p.ended:
		return errors.Join(fmt.Errorf("the program ended before it was stopped (%s); see %s", p.cmd.ProcessState, p.log.Name()), p.log.Close())
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", p.ID(), err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop process %d: %w; see %s", p.ID(), context.Cause(ctx), p.log.Name()), p.Kill())
	}
	err := p.log.Close()
	if !p.cmd.ProcessState.Success() {
		err = errors.Join(fmt.Errorf("the program ended with %s; see %s", p.cmd.ProcessState, p.log.Name()), err)
	}
	return err
}

// Tail returns the last lines of a log.
func Tail(log string) string {
	const lines = 20
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
