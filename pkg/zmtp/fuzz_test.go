/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bytes"
	"testing"

	"inferencecache.io/inference-cache/test/mutation"
)

// FuzzPeer lets a peer say anything, from its first byte on. A connection must
// end with an error, keep its limits and hold no more than was sent.
func FuzzPeer(f *testing.F) {
	corpus := mutation.New(f, 2000)
	corpus.Add([]byte{})
	corpus.Add(readyOf("ROUTER"))
	corpus.Add(append(readyOf("PUB"), messageOf("topic", "\x00\x00\x00\x00\x00\x00\x00\x01", "payload")...))
	corpus.Add(append(readyOf("PUB"), flagLong, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	corpus.Add(append(readyOf("PUB"), flagCommand|flagLong, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	corpus.Add(append(readyOf("PUB"), flagMore, 3, 'a'))
	corpus.Add(appendCommand(readyOf("PUB"), commandPing, []byte("\x00\x0acontext")))
	corpus.Fuzz(fuzzPeer)
}

// FuzzMessages is FuzzPeer after a valid handshake, which a fuzzer that starts
// from nothing would rarely get past.
func FuzzMessages(f *testing.F) {
	corpus := mutation.New(f, 2000)
	corpus.Add(messageOf("topic", "\x00\x00\x00\x00\x00\x00\x00\x01", "payload"))
	corpus.Add([]byte{flagLong, 0, 0, 0, 0, 0, 0, 0, 1, 'x'})
	corpus.Add(appendCommand(messageOf("a"), commandPing, []byte("\x00\x0acontext")))
	corpus.Fuzz(func(t *testing.T, stream []byte) {
		fuzzPeer(t, append(readyOf("PUB"), stream...))
	})
}

func fuzzPeer(t *testing.T, stream []byte) {
	opts := Options{MaxFrameSize: 1 << 16, MaxMessageSize: 1 << 17, MaxFrames: 8}
	c, _, err := scripted(t, bytes.Clone(stream), opts)
	if err != nil {
		return
	}
	received := 0
	for {
		frames, err := c.Recv()
		if err != nil {
			break
		}
		size := 0
		for _, frame := range frames {
			size += len(frame)
		}
		received += size
		if len(frames) == 0 || len(frames) > opts.MaxFrames || size > opts.MaxMessageSize {
			t.Fatalf("a message of %d frames and %d bytes came through", len(frames), size)
		}
	}
	if received > len(stream) {
		t.Fatalf("%d bytes came out of %d", received, len(stream))
	}
	if held := cap(c.in.body) + cap(c.in.command); held > 4*(len(stream)+growStep) {
		t.Fatalf("%d bytes sent, %d held", len(stream), held)
	}
}
