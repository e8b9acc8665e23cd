/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"fmt"
	"net"
	"testing"

	"github.com/go-zeromq/zmq4"
)

// benchmarkSizes are payloads of one engine step: a decode, a short and a long
// prefill.
var benchmarkSizes = []int{256, 1 << 10, 64 << 10}

// flood listens on loopback as a publisher that sends the same three-frame
// message over and over, as fast as the reader takes it.
func flood(b *testing.B, payload int) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	b.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	chunk := messageOf("", "12345678", string(make([]byte, payload)))
	for len(chunk) < 128<<10 {
		chunk = append(chunk, chunk...)
	}
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.Write(readyOf("PUB")); err != nil {
			return
		}
		for {
			if _, err := conn.Write(chunk); err != nil {
				return
			}
		}
	}()
	return "tcp://" + l.Addr().String()
}

func BenchmarkRecv(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			c, err := DialSub(b.Context(), flood(b, size), nil, Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Recv(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecvGoZeroMQ is the same work done by the library that could have
// been used instead.
func BenchmarkRecvGoZeroMQ(b *testing.B) {
	for _, size := range benchmarkSizes {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			sub := zmq4.NewSub(b.Context(), zmq4.WithAutomaticReconnect(false))
			defer func() { _ = sub.Close() }()
			if err := sub.Dial(flood(b, size)); err != nil {
				b.Fatal(err)
			}
			if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := sub.Recv(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
