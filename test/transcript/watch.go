/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package transcript

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// patience bounds the wait for a line. It only decides when a broken watch is
// given up on.
const patience = time.Minute

// Watch is a command that goes on printing.
type Watch struct {
	lines  chan string
	cmd    *exec.Cmd
	cancel context.CancelFunc
}

// Watch runs a command that prints until it is stopped.
func (s Shell) Watch(ctx context.Context, line string) (*Watch, error) {
	ctx, cancel := context.WithCancel(ctx)
	// With exec, what is killed at the end is kubectl and not the shell.
	cmd := s.Command(ctx, "exec "+line)
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	w := &Watch{lines: make(chan string, 100), cmd: cmd, cancel: cancel}
	go func() {
		defer close(w.lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			w.lines <- scanner.Text()
		}
	}()
	return w, nil
}

// Stop ends the command.
func (w *Watch) Stop() {
	w.cancel()
	for range w.lines {
		// Until the process has let go of the pipe.
	}
	_ = w.cmd.Wait() // the error says that it was killed, which it was
}

// Expect reads lines until one has the given words as its first cells, in order.
func (w *Watch) Expect(words ...string) error {
	var seen []string
	deadline := time.After(patience)
	for {
		select {
		case line, open := <-w.lines:
			if !open {
				return fmt.Errorf("the watch ended before %q, after:\n%s", words, strings.Join(seen, "\n"))
			}
			seen = append(seen, line)
			cells := strings.Fields(line)
			if len(cells) >= len(words) && strings.Join(cells[:len(words)], " ") == strings.Join(words, " ") {
				return nil
			}
		case <-deadline:
			return fmt.Errorf("no line %q, only:\n%s", words, strings.Join(seen, "\n"))
		}
	}
}
