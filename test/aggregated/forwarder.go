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
	"sync"
	"sync/atomic"
	"time"
)

// probeInterval is the time between two probes of a replica. One answer decides:
// what is slow in a cluster is to learn that a Pod is ready, and that it ends is
// known at once.
const probeInterval = 50 * time.Millisecond

// forwarder stands for kube-proxy and what it learns from: it gives each new
// connection to the next replica that is ready, and leaves open ones alone.
type forwarder struct {
	listener net.Listener
	backends []*backend
	next     atomic.Uint64

	cancel context.CancelFunc
	work   sync.WaitGroup
	mu     sync.Mutex
	open   map[net.Conn]struct{}
}

// backend is a replica as the forwarder sees it.
type backend struct {
	address string
	ready   atomic.Bool
}

func newForwarder(replicas []*Replica) (*forwarder, error) {
	var addresses []string
	for _, r := range replicas {
		addresses = append(addresses, r.api)
	}
	return forward(addresses, ready)
}

// forward starts a forwarder to addresses that a probe finds ready.
func forward(addresses []string, probe func(context.Context, *http.Client, string) error) (*forwarder, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &forwarder{listener: listener, cancel: cancel, open: map[net.Conn]struct{}{}}
	for _, address := range addresses {
		b := &backend{address: address}
		f.backends = append(f.backends, b)
		f.work.Go(func() { b.follow(ctx, probe) })
	}
	f.work.Go(f.accept)
	return f, nil
}

func (f *forwarder) address() string { return f.listener.Addr().String() }

// follow keeps what is known of a replica up to date.
func (b *backend) follow(ctx context.Context, probe func(context.Context, *http.Client, string) error) {
	client := newProbe()
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		b.ready.Store(probe(ctx, client, b.address) == nil)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (f *forwarder) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return // it is closed
		}
		f.work.Go(func() { f.serve(conn) })
	}
}

// pick returns the next replica that is ready, or nil.
func (f *forwarder) pick() *backend {
	first := f.next.Add(1)
	for i := range f.backends {
		if b := f.backends[(first+uint64(i))%uint64(len(f.backends))]; b.ready.Load() {
			return b
		}
	}
	return nil
}

// serve carries one connection. A replica that cannot be reached is not replaced
// by another one: kube-proxy does not either.
func (f *forwarder) serve(client net.Conn) {
	defer client.Close()
	b := f.pick()
	if b == nil {
		return
	}
	server, err := net.Dial("tcp", b.address)
	if err != nil {
		return
	}
	defer server.Close()
	if !f.track(client, server) {
		return
	}
	defer f.forget(client, server)
	var both sync.WaitGroup
	both.Go(func() { pipe(server, client) })
	both.Go(func() { pipe(client, server) })
	both.Wait()
}

// pipe copies until one side is done, and tells the other.
func pipe(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok && err == nil {
		_ = half.CloseWrite() // it is gone then
		return
	}
	_ = to.Close() // a broken connection is broken at both ends
}

// track remembers connections for close; false if that was called already.
func (f *forwarder) track(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		return false
	}
	for _, conn := range conns {
		f.open[conn] = struct{}{}
	}
	return true
}

func (f *forwarder) forget(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		delete(f.open, conn)
	}
}

// close ends everything, open connections too.
func (f *forwarder) close() error {
	f.cancel()
	closers := []io.Closer{f.listener}
	f.mu.Lock()
	for conn := range f.open {
		closers = append(closers, conn)
	}
	f.open = nil
	f.mu.Unlock()
	var failures []error
	for _, c := range closers {
		// Connections may have been closed meanwhile.
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			failures = append(failures, err)
		}
	}
	f.work.Wait()
	return errors.Join(failures...)
}
