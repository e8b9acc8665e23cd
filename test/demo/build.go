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

// programs are what the demo runs, by the name of their binary in bin/.
func programs() map[string]string {
	return map[string]string{
		serverProgram:     "./cmd/apiserver",
		subscriberProgram: "./cmd/kvevent-subscriber",
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
	for name, source := range programs() {
		if err := buildOne(ctx, root, name, source, out); err != nil {
			return err
		}
	}
	return nil
}

func buildOne(ctx context.Context, root, name, source string, out io.Writer) error {
	started := time.Now()
	target := filepath.Join("bin", name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", target, source)
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
