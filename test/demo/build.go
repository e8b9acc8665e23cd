/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"inferencecache.io/inference-cache/test/captures"
)

// buildNotice is how often a long build says that it goes on.
const buildNotice = 15 * time.Second

// program is a binary in bin/ and the package it is built from.
type program struct {
	name, source string
}

// programs are what the demo runs.
func programs() []program {
	return []program{
		{name: serverProgram, source: "./cmd/apiserver"},
		{name: subscriberProgram, source: "./cmd/kvevent-subscriber"},
	}
}

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	recordings, err := captures.Root()
	if err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(recordings)), nil
}

// build compiles the programs into bin/. The first build of a machine compiles
// all dependencies, which takes minutes, so it says that it is still there.
func build(ctx context.Context, root string, out io.Writer) error {
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		return err
	}
	for _, p := range programs() {
		if err := p.build(ctx, root, out); err != nil {
			return err
		}
	}
	return nil
}

func (p program) build(ctx context.Context, root string, out io.Writer) error {
	started := time.Now()
	target := filepath.Join("bin", p.name)
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", target, p.source)
	cmd.Dir = root
	done := make(chan error, 1)
	var output []byte
	go func() {
		var err error
		output, err = cmd.CombinedOutput()
		done <- err
	}()
	ticker := time.NewTicker(buildNotice)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("build %s: %w\n%s", target, err, output)
			}
			step(out, "built", "%s (%.1f s)", target, time.Since(started).Seconds())
			return nil
		case <-ticker.C:
			step(out, "building", "%s for %.0f s; the first build compiles every dependency", target, time.Since(started).Seconds())
		}
	}
}
