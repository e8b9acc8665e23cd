/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// greetingOf returns a valid greeting with the given version and mechanism.
func greetingOf(major byte, mechanism string) []byte {
	g := make([]byte, greetingSize)
	g[0], g[signatureLastPos], g[versionPos] = signatureFirst, signatureLast, major
	copy(g[mechanismPos:], mechanism)
	return g
}

// readyOf returns what a healthy peer of the given type sends first.
func readyOf(socket string) []byte {
	return appendReady(greetingOf(3, mechanismNull), socket)
}

// join concatenates pieces of a byte stream.
func join(parts ...[]byte) []byte {
	return bytes.Join(parts, nil)
}

// scriptConn is a connection whose peer has already said everything it will say
// and takes whatever is written.
type scriptConn struct {
	io.Reader
	written bytes.Buffer
}

func (c *scriptConn) Write(p []byte) (int, error)      { return c.written.Write(p) }
func (c *scriptConn) Close() error                     { return nil }
func (c *scriptConn) LocalAddr() net.Addr              { return nil }
func (c *scriptConn) RemoteAddr() net.Addr             { return nil }
func (c *scriptConn) SetDeadline(time.Time) error      { return nil }
func (c *scriptConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptConn) SetWriteDeadline(time.Time) error { return nil }

// scripted returns a connection to a peer that sends the given bytes.
func scripted(t testing.TB, stream []byte, opts Options) (*Conn, *scriptConn, error) {
	t.Helper()
	raw := &scriptConn{Reader: bytes.NewReader(stream)}
	c, err := shake(t.Context(), raw, subRole(), opts.withDefaults())
	return c, raw, err
}

// acceptOne listens on loopback and hands the first connection to serve.
func acceptOne(t *testing.T, serve func(net.Conn)) (endpoint string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		serve(conn)
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return "tcp://" + l.Addr().String()
}
