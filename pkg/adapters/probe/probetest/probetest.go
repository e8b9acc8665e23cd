/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probetest

import (
	"net"
	"sync"
	"testing"
)

// Serve calls handle for every connection to the address that it returns, and
// closes the connection when handle is done. At the end of the test connections are
// closed, so that a handler that only reads ends too.
func Serve(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		handlers sync.WaitGroup
		lock     sync.Mutex
		open     = map[net.Conn]bool{}
		ended    bool
	)
	handlers.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the listener was closed
			}
			lock.Lock()
			open[conn] = true
			if ended {
				_ = conn.Close()
			}
			lock.Unlock()
			handlers.Go(func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		lock.Lock()
		ended = true
		for conn := range open {
			_ = conn.Close()
		}
		lock.Unlock()
		handlers.Wait()
	})
	return listener.Addr().String()
}

// Nobody returns an address at which nobody listens.
func Nobody(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
