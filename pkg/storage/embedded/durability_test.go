/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/go-logr/logr/testr"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"
)

// Environment of the re-executed test binary.
const (
	childDir       = "EMBEDDED_ETCD_TEST_DIR"
	childFileLimit = "EMBEDDED_ETCD_TEST_FILE_LIMIT"
	childValueSize = "EMBEDDED_ETCD_TEST_VALUE_SIZE"
)

// TestMain turns the test binary into a writer when a test re-executes it:
// killing a server hard needs a process of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := runWriter(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runWriter starts a server and puts increasing keys for ever. It prints each
// key after its write was acknowledged, and nothing else on stdout.
func runWriter(dir string) error {
	size, err := strconv.Atoi(os.Getenv(childValueSize))
	if err != nil {
		return err
	}
	if text := os.Getenv(childFileLimit); text != "" {
		limit, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		// Without this the system ends the process before etcd sees the error.
		signal.Ignore(syscall.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	ctx := context.Background()
	log := funcr.New(func(_, args string) { fmt.Fprintln(os.Stderr, args) }, funcr.Options{})
	s, err := Start(ctx, Config{Dir: dir, Logger: log})
	if err != nil {
		return err
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: s.Endpoints()})
	if err != nil {
		return err
	}
	for i := range 1 << 30 {
		key := fmt.Sprintf("%d-%06d", os.Getpid(), i)
		if _, err := c.Put(ctx, key, key+strings.Repeat(".", size)); err != nil {
			return err
		}
		fmt.Println(key)
	}
	return nil
}

// writer starts a child that writes to dir.
func writer(t *testing.T, dir string, env ...string) (cmd *exec.Cmd, acked *bufio.Scanner, stderr *strings.Builder) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childDir+"="+dir)...)
	stderr = &strings.Builder{}
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), stderr
}

// verify fails the test for every acknowledged key that is not stored whole.
func verify(t *testing.T, dir string, acked []string) {
	t.Helper()
	s := start(t, Config{Dir: dir})
	c := dial(t, s)
	for _, key := range acked {
		if got := get(t.Context(), t, c, key); !strings.HasPrefix(got, key) {
			t.Errorf("acknowledged key %s is lost (value %.20q)", key, got)
		}
	}
}

func TestKillLosesNoAcknowledgedWrite(t *testing.T) {
	dir := t.TempDir()
	var acked []string
	for round := range 10 {
		cmd, out, stderr := writer(t, dir, childValueSize+"=1000")
		for range 10 + 7*round {
			if !out.Scan() {
				t.Fatalf("round %d: writer stopped: %v\n%s", round, cmd.Wait(), stderr)
			}
			acked = append(acked, out.Text())
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		// What it still acknowledged before it died counts as well.
		for out.Scan() {
			acked = append(acked, out.Text())
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("killed writer ended without an error")
		}
	}
	t.Logf("verifying %d acknowledged writes", len(acked))
	verify(t, dir, acked)
}

func TestFullDiskLosesNoAcknowledgedWrite(t *testing.T) {
	dir := t.TempDir()
	// A limit on file size fails the growth of the database exactly where a
	// full disk does, and needs no file system of its own. etcd allocates its
	// log in pieces of 64 MB, so the limit is a little above that.
	cmd, out, stderr := writer(t, dir, childValueSize+"=1000000", childFileLimit+"="+strconv.Itoa(66<<20))
	var acked []string
	for out.Scan() {
		acked = append(acked, out.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("writer ended with %v, want exit status 1\n%s", err, stderr)
	}
	for _, want := range []string{"Embedded etcd cannot go on", "file size limit was reached", "nothing acknowledged is lost"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("log does not say %q:\n%s", want, stderr)
		}
	}
	if len(acked) == 0 {
		t.Error("no write was acknowledged before the limit")
	}
	t.Logf("verifying %d acknowledged writes", len(acked))
	verify(t, dir, acked)
}

func TestStartOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd, out, stderr := writer(t, dir, childValueSize+"=10", childFileLimit+"="+strconv.Itoa(1<<20))
	if out.Scan() {
		t.Errorf("a write was acknowledged: %s", out.Text())
	}
	if err := cmd.Wait(); err == nil {
		t.Error("writer started without space for etcd's log")
	}
	if want := "file size limit was reached"; !strings.Contains(stderr.String(), want) {
		t.Errorf("error does not say %q:\n%s", want, stderr)
	}
	verify(t, dir, nil)
}

func TestSecondProcessOnSameDirectory(t *testing.T) {
	dir := t.TempDir()
	start(t, Config{Dir: dir, UnsafeNoFsync: true})
	cmd, out, stderr := writer(t, dir, childValueSize+"=10")
	if out.Scan() {
		t.Errorf("second process wrote %s", out.Text())
	}
	if err := cmd.Wait(); err == nil {
		t.Error("second process started")
	}
	want := fmt.Sprintf("data directory %s is in use by another server (pid %d on ", dir, os.Getpid())
	if !strings.Contains(stderr.String(), want) {
		t.Errorf("error does not say %q:\n%s", want, stderr)
	}
}

func TestQuota(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "data"), QuotaBytes: 2 << 20, UnsafeNoFsync: true, Logger: testr.New(t)}
	acked := map[string]bool{}
	t.Run("used up", func(t *testing.T) {
		c := dial(t, start(t, cfg))
		value := strings.Repeat("v", 100_000)
		var err error
		for i := 0; err == nil && i < 2000; i++ {
			// Few keys of many versions: the space can be had back by compacting.
			key := "k" + strconv.Itoa(i%5)
			if _, err = c.Put(t.Context(), key, key+value); err == nil {
				acked[key] = true
			}
		}
		if !errors.Is(err, rpctypes.ErrNoSpace) {
			t.Fatalf("last write ended with %v, want %v", err, rpctypes.ErrNoSpace)
		}
		for key := range acked {
			if got := get(t.Context(), t, c, key); !strings.HasPrefix(got, key) {
				t.Errorf("key %s cannot be read while the quota is used up", key)
			}
		}
	})
	t.Run("restarted", func(t *testing.T) {
		c := dial(t, start(t, cfg))
		if _, err := c.Put(t.Context(), "after", "restart"); err != nil {
			t.Errorf("a restart did not heal a quota used up by history: %v", err)
		}
		for key := range acked {
			if got := get(t.Context(), t, c, key); !strings.HasPrefix(got, key) {
				t.Errorf("acknowledged key %s is lost", key)
			}
		}
	})
}
