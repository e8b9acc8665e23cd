/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopGrace is how long a program may take to end before it is killed.
const stopGrace = 10 * time.Second

// process is a program that the demo has started, in a process group of its own
// so that Ctrl-C reaches it through the demo only.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	log     *os.File
	// ended is closed when the program has ended; err is set before.
	ended chan struct{}
	err   error
}

// start runs a program whose output goes to a file in dir.
func start(dir, name, program string, args ...string) (*process, error) {
	p := &process{name: name, logPath: filepath.Join(dir, name+".log"), ended: make(chan struct{})}
	var err error
	if p.log, err = os.Create(p.logPath); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), p.log.Close())
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop asks the program and what it started to end, and kills what does not.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		if err := p.signal(syscall.SIGKILL); err != nil {
			return err
		}
		<-p.ended
	}
	return p.log.Close()
}

// signal reaches the whole process group. A group that has gone is no error.
func (p *process) signal(s syscall.Signal) error {
	err := syscall.Kill(-p.cmd.Process.Pid, s)
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// failure describes a program that ended by itself, with the end of its log.
func (p *process) failure() error {
	return fmt.Errorf("%s ended: %w\n%s", p.name, p.err, p.tail(20))
}

// tail returns the last lines of the log.
func (p *process) tail(lines int) string {
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
