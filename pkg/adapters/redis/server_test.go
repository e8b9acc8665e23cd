//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/programs"
)

// realPassword is what the real server is started with.
const realPassword = "Zm9vYmFyLWJhel9xdXV4"

// realServer is a redis-server, started as it is rendered.
type realServer struct {
	process           *programs.Process
	address, password string
}

// start starts a redis-server with the arguments that a backend is rendered with,
// and with more arguments behind them, which decide where both are given.
func start(t *testing.T, starting *programs.Starting, auth v1alpha1.RedisAuth, more ...string) *realServer {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("no redis-server, install it with: apt-get install redis-server: %v", err)
	}
	address, err := programs.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	s := &realServer{address: address}
	if auth != v1alpha1.RedisAuthNone {
		s.password = realPassword
	}
	log := filepath.Join(t.TempDir(), "log")
	args := append(renderedArgs(t, auth), "--bind", "127.0.0.1", "--port", port)
	s.process, err = starting.Start(programs.Command{Path: program, Args: append(args, more...), Log: log, Tied: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(programs.Tail(log))
		}
		select {
		case <-s.process.Ended():
		default:
			if err := s.process.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	if err := programs.Poll(t.Context(), func() error { _, err := s.try(t.Context(), "PING"); return err }); err != nil {
		t.Fatal(err)
	}
	return s
}

// renderedArgs are the arguments of the container behind the name of the program,
// with the variable filled in as the kubelet does.
func renderedArgs(t *testing.T, auth v1alpha1.RedisAuth) []string {
	t.Helper()
	objects, err := Render(workload.Input{Password: realPassword, Backend: &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "models", UID: "1"},
		Spec: v1alpha1.CacheBackendSpec{RemoteStorage: &v1alpha1.RemoteStorage{
			Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipManaged, Redis: &v1alpha1.RedisStorage{Auth: auth},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	args := objects.Deployment.Spec.Template.Spec.Containers[0].Args
	if args[0] != "redis-server" {
		t.Fatalf("the image is asked to run %s", args[0])
	}
	filled := make([]string, len(args)-1)
	for i, arg := range args[1:] {
		filled[i] = strings.ReplaceAll(arg, "$("+workload.PasswordEnv+")", realPassword)
	}
	return filled
}

// try sends one command and returns the reply, on a connection of its own.
func (s *realServer) try(ctx context.Context, parts ...string) (reply, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	if s.password != "" {
		if _, err := conn.Write(command("AUTH", s.password)); err != nil {
			return reply{}, err
		}
		if got, err := readReply(in); err != nil || got.kind != '+' {
			return reply{}, fmt.Errorf("log in: %v, %w", got, err)
		}
	}
	if _, err := conn.Write(command(parts...)); err != nil {
		return reply{}, err
	}
	return readReply(in)
}

// must sends a command that is to succeed.
func (s *realServer) must(t *testing.T, parts ...string) reply {
	t.Helper()
	got, err := s.try(t.Context(), parts...)
	if err != nil || got.kind == '-' {
		t.Fatalf("%v: %v, %v", parts, got, err)
	}
	return got
}

// expect holds the outcome of a probe.
func (s *realServer) expect(t *testing.T, want probe.Outcome, says string) {
	t.Helper()
	got := Probe(t.Context(), target(s.address, s.password))
	if got.Outcome != want || !strings.Contains(got.Message, says) {
		t.Errorf("%s: %s\nwant %s with %q", got.Outcome, got.Message, want, says)
	}
}

// TestRealServer takes a redis-server that was started as it is rendered through the
// states in which it stores nothing.
func TestRealServer(t *testing.T) {
	for _, auth := range []v1alpha1.RedisAuth{v1alpha1.RedisAuthGenerated, v1alpha1.RedisAuthNone} {
		t.Run(string(auth), func(t *testing.T) {
			s := start(t, &programs.Starting{}, auth)
			s.expect(t, probe.OK, "stored a value")
			if left := s.must(t, "DBSIZE"); left.number != 0 {
				t.Errorf("the probe left %d keys", left.number)
			}
			s.must(t, "REPLICAOF", "127.0.0.1", "1")
			s.expect(t, probe.Failed, "replica")
			s.must(t, "REPLICAOF", "NO", "ONE")
			s.expect(t, probe.OK, "stored a value")

			s.must(t, "CONFIG", "SET", "maxmemory", "1mb", "maxmemory-policy", "noeviction")
			s.expect(t, probe.Failed, "allkeys-lru")
			s.must(t, "CONFIG", "SET", "maxmemory", "0")
			s.expect(t, probe.OK, "stored a value")

			s.must(t, "CLIENT", "PAUSE", "500", "WRITE")
			s.expect(t, probe.OK, "stored a value")

			if err := syscall.Kill(s.process.ID(), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			s.expect(t, probe.Failed, "does not answer")
			if err := s.process.Kill(); err != nil {
				t.Fatal(err)
			}
			s.expect(t, probe.Failed, "Nothing listens")
		})
	}
}

func TestRealServerKnowsItsPassword(t *testing.T) {
	s := start(t, &programs.Starting{}, v1alpha1.RedisAuthGenerated)
	for given, says := range map[string]string{"": "passwordSecretRef", "another": "correct the Secret"} {
		if got := Probe(t.Context(), target(s.address, given)); got.Outcome != probe.Failed || !strings.Contains(got.Message, says) {
			t.Errorf("with password %q: %+v", given, got)
		}
	}
	open := start(t, &programs.Starting{}, v1alpha1.RedisAuthNone)
	if got := Probe(t.Context(), target(open.address, "another")); got.Outcome != probe.Failed || !strings.Contains(got.Message, "has no password") {
		t.Errorf("%+v", got)
	}
}

// TestRealServerWithARestrictedLogin tells a login that may not store from one that
// may, but not under the keys of probes.
func TestRealServerWithARestrictedLogin(t *testing.T) {
	s := start(t, &programs.Starting{}, v1alpha1.RedisAuthNone)
	for rights, want := range map[string]probe.Outcome{"~* +get +ping": probe.Failed, "~kv:* +@all": probe.Unknown} {
		s.must(t, append([]string{"ACL", "SETUSER", "default", "on", "nopass", "resetkeys", "-@all", "+acl"}, strings.Fields(rights)...)...)
		if got := Probe(t.Context(), target(s.address, "")); got.Outcome != want {
			t.Errorf("with %s: %+v, want %s", rights, got, want)
		}
	}
}

// TestRealServerThatLoads catches a server while it reads its data.
func TestRealServerThatLoads(t *testing.T) {
	dir, starting := t.TempDir(), &programs.Starting{}
	first := start(t, starting, v1alpha1.RedisAuthNone, "--dir", dir)
	for i := range 2000 {
		first.must(t, "SET", fmt.Sprint("k", i), "v")
	}
	first.must(t, "SAVE")
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Each of the keys takes 10 ms, and the server answers every hundred of them.
	second := start(t, starting, v1alpha1.RedisAuthNone, "--dir", dir,
		"--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024")
	second.expect(t, probe.Failed, "loading")
}
