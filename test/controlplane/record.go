/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"inferencecache.io/inference-cache/pkg/storage/durablefile"
	"inferencecache.io/inference-cache/test/programs"
)

// recordFile is where a cluster lists its processes, and what tells its directory
// from any other.
const recordFile = "processes.json"

// Process is a program of a cluster. Its id alone would not tell it from a later
// process with the same id; nothing else has the same command line, which names
// the cluster's directory.
type Process struct {
	// Name is the file of the program, ID the process.
	Name string `json:"name"`
	ID   int    `json:"id"`
	// Command is what it was started with: its path and its flags.
	Command []string `json:"command"`
}

// find returns the process, or nil if it has ended. What it returns is bound to
// the process, even if the id is used again.
func (p *Process) find() (*os.Process, error) {
	process, err := os.FindProcess(p.ID)
	if err != nil {
		return nil, fmt.Errorf("find process %d: %w", p.ID, err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.ID))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
		return nil, errors.Join(err, process.Release())
	}
	// A process that has ended and was not waited for yet has an empty line.
	if !bytes.Equal(line, []byte(strings.Join(p.Command, "\x00")+"\x00")) {
		return nil, process.Release()
	}
	return process, nil
}

// checkIdentity is an error where find finds nothing.
func checkIdentity() error {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return fmt.Errorf("processes cannot be told apart later, which needs the proc file system of Linux: %w", err)
	}
	return nil
}

// claim takes a directory for a cluster.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err != nil {
		return err
	} else if len(entries) > 0 {
		return fmt.Errorf("%s is not empty; a cluster needs a directory of its own", dir)
	}
	return errors.Join(os.Chmod(dir, 0o700), writeRecord(dir, nil))
}

func writeRecord(dir string, processes []Process) error {
	content, err := json.MarshalIndent(processes, "", "  ")
	if err != nil {
		return err
	}
	return durablefile.Write(filepath.Join(dir, recordFile), append(content, '\n'), 0o600)
}

// readRecord lists the processes of a cluster; fs.ErrNotExist if there is none.
func readRecord(dir string) ([]Process, error) {
	content, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err != nil {
		return nil, err
	}
	var processes []Process
	if err := json.Unmarshal(content, &processes); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", recordFile, dir, err)
	}
	return processes, nil
}

func kubeconfigOf(dir string) string { return filepath.Join(dir, "kubeconfig") }

// Running returns the kubeconfig of the cluster in a directory, and nothing if
// there is none, it never became whole or one of its programs has ended.
func Running(dir string) (kubeconfig string, err error) {
	processes, err := readRecord(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	kubeconfig = kubeconfigOf(dir)
	if _, err := os.Stat(kubeconfig); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	for i := range processes {
		process, err := processes[i].find()
		if process == nil {
			return "", err
		}
		if err := process.Release(); err != nil {
			return "", err
		}
	}
	return kubeconfig, nil
}

// End kills what is left of the cluster in a directory, waits until it is gone,
// and removes the directory. It does nothing if there is no directory, and refuses
// one that no cluster has made.
func End(ctx context.Context, dir string) error {
	processes, err := readRecord(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("%s is not the directory of a cluster: %w", dir, err)
	}
	if err != nil {
		return err
	}
	for i := range slices.Backward(processes) {
		if err := processes[i].end(ctx); err != nil {
			return fmt.Errorf("end %s: %w", processes[i].Name, err)
		}
	}
	return os.RemoveAll(dir)
}

// end kills the process if it still runs, and waits until it is gone.
func (p *Process) end(ctx context.Context) error {
	process, err := p.find()
	if process == nil {
		return err
	}
	defer func() { _ = process.Release() }() // the process is gone, or the error is worse
	if err := process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return programs.Poll(ctx, func() error {
		left, err := p.find()
		if left != nil {
			return errors.Join(fmt.Errorf("process %d still runs", p.ID), left.Release())
		}
		return err
	})
}
