/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/go-cmp/cmp"
)

// testTimeout is when a test gives up waiting for a peer.
const testTimeout = 10 * time.Second

// listening returns a socket of another ZeroMQ implementation that listens on
// the given transport, and the endpoint to dial.
func listening(t testing.TB, transport string, socket zmq4.Socket) string {
	t.Helper()
	t.Cleanup(func() { _ = socket.Close() })
	if transport == "ipc" {
		endpoint := "ipc://" + filepath.Join(t.TempDir(), "s.sock")
		if err := socket.Listen(endpoint); err != nil {
			t.Fatal(err)
		}
		return endpoint
	}
	if err := socket.Listen("tcp://127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return "tcp://" + socket.Addr().String()
}

// waitSubscribed returns when a publisher knows the wanted topics.
func waitSubscribed(t testing.TB, publisher zmq4.Socket, want ...string) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		got := publisher.(zmq4.Topics).Topics()
		if cmp.Equal(want, got) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("publisher knows the topics %q, want %q", got, want)
		}
		<-tick.C
	}
}

// recvStrings receives one message before the test's timeout.
func recvStrings(t testing.TB, c *Conn) []string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	frames, err := c.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range frames {
		out = append(out, string(f))
	}
	return out
}

func TestSubscribe(t *testing.T) {
	long := strings.Repeat("z", 100_000)
	sent := [][]string{{"kv-events", "1", "a"}, {"other", "2", "b"}, {"kv@pod-0@m", "3", long}, {"kv-events", "4", ""}}
	tests := map[string]struct {
		transport string
		topics    [][]byte
		known     []string
		want      [][]string
	}{
		"all over tcp":    {transport: "tcp", known: []string{""}, want: sent},
		"all over ipc":    {transport: "ipc", known: []string{""}, want: sent},
		"one topic":       {transport: "tcp", topics: [][]byte{[]byte("kv-events")}, known: []string{"kv-events"}, want: [][]string{sent[0], sent[3]}},
		"two prefixes":    {transport: "tcp", topics: [][]byte{[]byte("kv@"), []byte("o")}, known: []string{"kv@", "o"}, want: [][]string{sent[1], sent[2]}},
		"the empty topic": {transport: "tcp", topics: [][]byte{{}}, known: []string{""}, want: sent},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			publisher := zmq4.NewPub(t.Context())
			c, err := DialSub(t.Context(), listening(t, tc.transport, publisher), tc.topics, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			waitSubscribed(t, publisher, tc.known...)
			for _, m := range sent {
				if err := publisher.SendMulti(zmq4.NewMsgFrom([]byte(m[0]), []byte(m[1]), []byte(m[2]))); err != nil {
					t.Fatal(err)
				}
			}
			for i, want := range tc.want {
				if diff := cmp.Diff(want, recvStrings(t, c)); diff != "" {
					t.Errorf("message %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestDealer(t *testing.T) {
	for _, transport := range []string{"tcp", "ipc"} {
		t.Run(transport, func(t *testing.T) {
			router := zmq4.NewRouter(t.Context())
			c, err := DialDealer(t.Context(), listening(t, transport, router), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if err := c.Send(nil, []byte("start")); err != nil {
				t.Fatal(err)
			}
			request, err := router.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if len(request.Frames) != 3 || len(request.Frames[1]) != 0 || string(request.Frames[2]) != "start" {
				t.Fatalf("router got %q", request.Frames)
			}
			for i := range 3 {
				reply := zmq4.NewMsgFrom(request.Frames[0], nil, fmt.Append(nil, i))
				if err := router.SendMulti(reply); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([]string{"", fmt.Sprint(i)}, recvStrings(t, c)); diff != "" {
					t.Errorf("reply %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// TestWrongSocket holds that a swapped pair of endpoints is named as such.
func TestWrongSocket(t *testing.T) {
	endpoint := listening(t, "tcp", zmq4.NewRouter(t.Context()))
	_, err := DialSub(t.Context(), endpoint, nil, Options{})
	if err == nil || !strings.Contains(err.Error(), "ROUTER") {
		t.Errorf("subscribing at a router: got error %v", err)
	}
}
