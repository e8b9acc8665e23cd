/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"inferencecache.io/inference-cache/test/programs"
)

// fleet is some servers that say their address and then what they are told.
type fleet struct {
	*forwarder
	addresses []string

	mu    sync.Mutex
	ready map[string]bool
}

func newFleet(t *testing.T, n int) *fleet {
	t.Helper()
	f := &fleet{ready: map[string]bool{}}
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go echo(listener)
		f.addresses = append(f.addresses, listener.Addr().String())
	}
	var err error
	f.forwarder, err = forward(f.addresses, func(_ context.Context, _ *http.Client, address string) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.ready[address] {
			return errors.New("not ready")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

func echo(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if _, err := io.WriteString(conn, listener.Addr().String()); err == nil {
				_, _ = io.Copy(conn, conn) // ends with the connection
			}
		}()
	}
}

// set makes exactly these servers ready and waits until the forwarder knows.
func (f *fleet) set(t *testing.T, ready ...string) {
	t.Helper()
	f.mu.Lock()
	clear(f.ready)
	for _, address := range ready {
		f.ready[address] = true
	}
	f.mu.Unlock()
	err := programs.Poll(t.Context(), func() error {
		for _, b := range f.backends {
			if b.ready.Load() != slices.Contains(ready, b.address) {
				return errors.New("not known yet")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// talk connects, sends words and hangs up. It returns what came back: the server's
// address first.
func (f *fleet) talk(t *testing.T, words string) string {
	t.Helper()
	conn, err := net.Dial("tcp", f.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, words); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return "" // refused already
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return ""
	}
	return string(answer)
}

func TestForwarderFollowsReadiness(t *testing.T) {
	f := newFleet(t, 3)
	a, b := f.addresses[0], f.addresses[2]
	tests := map[string]struct{ ready []string }{
		"several": {ready: []string{a, b}},
		"one":     {ready: []string{b}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f.set(t, test.ready...)
			got := map[string]bool{}
			for range 4 {
				got[f.talk(t, "x")] = true
			}
			for _, address := range test.ready {
				if !got[address+"x"] {
					t.Errorf("nothing came to %s: %v", address, got)
				}
			}
			if len(got) != len(test.ready) {
				t.Errorf("got answers %v, want one of each of %v", got, test.ready)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		f.set(t)
		if got := f.talk(t, ""); got != "" {
			t.Errorf("got the answer %q", got)
		}
	})
}

// TestForwarderKeepsConnections holds that a replica which is not ready any more
// keeps the connections that it has.
func TestForwarderKeepsConnections(t *testing.T) {
	f := newFleet(t, 1)
	address := f.addresses[0]
	f.set(t, address)
	conn, err := net.Dial("tcp", f.address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	expect := func(want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	expect(address)
	f.set(t)
	if _, err := io.WriteString(conn, "still there"); err != nil {
		t.Fatal(err)
	}
	expect("still there")
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection outlives the forwarder")
	}
}
