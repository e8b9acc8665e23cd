//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/zmtp"
)

// patience is when a test gives up waiting for the peer.
const patience = 30 * time.Second

// checkPayload holds that a message is the one of its sequence, unharmed.
func checkPayload(t *testing.T, m kvevents.Message, size int) {
	t.Helper()
	if len(m.Payload) != size || binary.BigEndian.Uint64(m.Payload) != m.Sequence || bytes.Count(m.Payload[8:], []byte("x")) != size-8 {
		t.Fatalf("message %d carries %d bytes that begin with % x", m.Sequence, len(m.Payload), m.Payload[:min(16, len(m.Payload))])
	}
}

// receive reads the given number of messages, which have to come in order.
func receive(t *testing.T, s *kvevents.Subscription, messages, size int) {
	t.Helper()
	if err := s.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for want := range uint64(messages) {
		m, err := s.Next()
		if err != nil {
			t.Fatalf("waiting for message %d: %v", want, err)
		}
		if m.Sequence != want || string(m.Topic) != "kv-events" {
			t.Fatalf("message %d of %q, want %d", m.Sequence, m.Topic, want)
		}
		checkPayload(t, m, size)
	}
}

func TestSubscribe(t *testing.T) {
	tests := map[string]struct {
		endpoint       func(t *testing.T) string
		messages, size int
	}{
		"tcp, small": {func(*testing.T) string { return "tcp://127.0.0.1:0" }, 20_000, 64},
		"tcp, large": {func(*testing.T) string { return "tcp://127.0.0.1:0" }, 200, 1 << 20},
		"ipc":        {func(t *testing.T) string { return "ipc://" + t.TempDir() + "/s" }, 2000, 4096},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			endpoint := peer(t, "publish", tc.endpoint(t), strconv.Itoa(tc.messages), strconv.Itoa(tc.size))
			s, err := kvevents.Subscribe(t.Context(), endpoint, "kv-", zmtp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			receive(t, s, tc.messages, tc.size)
		})
	}
}

// TestHeartbeats looks at what libzmq sends: it asks for signs of life, drops a
// peer that gives none for 200 ms, and does not drop us.
func TestHeartbeats(t *testing.T) {
	const messages, size = 20, 64
	endpoint := peer(t, "publish", "tcp://127.0.0.1:0", strconv.Itoa(messages), strconv.Itoa(size))
	through, sent := tap(t, strings.TrimPrefix(endpoint, "tcp://"))
	s, err := kvevents.Subscribe(t.Context(), "tcp://"+through, "", zmtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	receive(t, s, messages, size)
	if got := sent("\x04PING"); got < 5 {
		t.Errorf("the peer has asked %d times for a sign of life: this test shows nothing", got)
	}
}

// tap forwards one connection to address and counts what comes back from there.
func tap(t *testing.T, address string) (listening string, sent func(text string) int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			_ = client.Close()
			return
		}
		wg.Go(func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		})
		_, _ = io.Copy(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			seen.Write(p)
			return client.Write(p)
		}), server)
		_ = client.Close()
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return l.Addr().String(), func(text string) int {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Count(seen.Bytes(), []byte(text))
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestReplay asks a ROUTER with libzmq's default limits, which drops messages in
// the middle when its reader is slow, until everything is there.
func TestReplay(t *testing.T) {
	tests := map[string]struct {
		form           string
		messages, size int
	}{
		"older form":     {"old", 500, 256},
		"newer form":     {"new", 500, 256},
		"beyond a limit": {"new", 10_000, 4096},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			endpoint := peer(t, "replay", "tcp://127.0.0.1:0", strconv.Itoa(tc.messages), strconv.Itoa(tc.size), tc.form)
			next, rounds := uint64(0), 0
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for next < uint64(tc.messages) {
				result, err := kvevents.Replay(ctx, endpoint, next, kvevents.ReplayOptions{}, func(m kvevents.Message) error {
					if m.Sequence != next {
						t.Fatalf("message %d, want %d", m.Sequence, next)
					}
					checkPayload(t, m, tc.size)
					next++
					return nil
				})
				if err != nil {
					t.Fatalf("round %d, at message %d: %+v: %v", rounds, next, result, err)
				}
				rounds++
			}
			t.Logf("%d messages in %d rounds", next, rounds)
		})
	}
}

// TestWrongSocket holds that endpoints mixed up in a configuration are told.
func TestWrongSocket(t *testing.T) {
	endpoint := peer(t, "replay", "tcp://127.0.0.1:0", "1", "64", "new")
	_, err := kvevents.Subscribe(t.Context(), endpoint, "", zmtp.Options{})
	if err == nil || !strings.Contains(err.Error(), "ROUTER") {
		t.Errorf("subscribing at a replay socket: got error %v", err)
	}
}
