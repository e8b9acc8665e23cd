/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// run starts a shell whose words go to a log.
func run(t *testing.T, script string, group bool) *Process {
	t.Helper()
	p, err := new(Starting).Start(Command{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"GREETING=hello"},
		Log: filepath.Join(t.TempDir(), "log"), Group: group,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKillEndsWhatTheProgramStarted(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The fifo has a writer for as long as the inner program lives.
	p := run(t, "sleep 600 >"+fifo+" & wait", true)
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Error(err)
	}
}

func TestKillAfterTheEnd(t *testing.T) {
	for name, group := range map[string]bool{"alone": false, "with its group": true} {
		t.Run(name, func(t *testing.T) {
			p := run(t, "echo $GREETING; exit 3", group)
			<-p.Ended()
			log := p.log.Name()
			if err := p.Kill(); err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), log) {
				t.Errorf("got error %v, want one that tells how the program ended and where its log is", err)
			}
			if got := Tail(log); got != "hello" {
				t.Errorf("the log ends with %q", got)
			}
		})
	}
}

func TestTail(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte(strings.Repeat("early\n", 100)+strings.Repeat("late\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(Tail(log), "late"); got != 20 || strings.Contains(Tail(log), "early") {
		t.Errorf("got %d of the last 20 lines:\n%s", got, Tail(log))
	}
	if got := Tail(log + "missing"); !strings.Contains(got, "no such file") {
		t.Errorf("a missing log reads %q", got)
	}
}
