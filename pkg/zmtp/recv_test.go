/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// messageOf encodes one message.
func messageOf(frames ...string) []byte {
	var out []byte
	for i, f := range frames {
		out = appendFrame(out, []byte(f), i+1 < len(frames))
	}
	return out
}

// receiveAll returns copies of all messages up to the first error.
func receiveAll(c *Conn) (messages [][]string, err error) {
	for {
		frames, err := c.Recv()
		if err != nil {
			return messages, err
		}
		var message []string
		for _, f := range frames {
			message = append(message, string(f))
		}
		messages = append(messages, message)
	}
}

func TestRecv(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	ping := appendCommand(nil, commandPing, []byte("\x00\x0aabc"))
	tests := map[string]struct {
		stream  []byte
		opts    Options
		want    [][]string
		wantIs  error
		wantErr string
		sent    []byte
	}{
		"one":                  {stream: messageOf("a", "", "c"), want: [][]string{{"a", "", "c"}}, wantIs: io.EOF},
		"empty message":        {stream: messageOf(""), want: [][]string{{""}}, wantIs: io.EOF},
		"long frame":           {stream: messageOf("t", long, "z"), want: [][]string{{"t", long, "z"}}, wantIs: io.EOF},
		"short then long":      {stream: join(messageOf("a"), messageOf(long), messageOf("b")), want: [][]string{{"a"}, {long}, {"b"}}, wantIs: io.EOF},
		"long form of short":   {stream: []byte{flagLong, 0, 0, 0, 0, 0, 0, 0, 1, 'x'}, want: [][]string{{"x"}}, wantIs: io.EOF},
		"heartbeat":            {stream: join(ping, messageOf("a")), want: [][]string{{"a"}}, wantIs: io.EOF, sent: appendCommand(nil, commandPong, []byte("abc"))},
		"heartbeat inside":     {stream: join([]byte{flagMore, 1, 'a'}, ping, []byte{0, 1, 'b'}), want: [][]string{{"a", "b"}}, wantIs: io.EOF, sent: appendCommand(nil, commandPong, []byte("abc"))},
		"unknown command":      {stream: join(appendCommand(nil, "GOSSIP", []byte("x")), messageOf("a")), want: [][]string{{"a"}}, wantIs: io.EOF},
		"heartbeat too short":  {stream: appendCommand(nil, commandPing, []byte{0}), wantIs: ErrProtocol, wantErr: "heartbeat"},
		"heartbeat too long":   {stream: appendCommand(nil, commandPing, make([]byte, 19)), wantIs: ErrProtocol, wantErr: "heartbeat"},
		"error command":        {stream: appendCommand(nil, commandError, []byte("\x09shutdown")), wantIs: ErrProtocol, wantErr: "shutdown"},
		"announces 2^62 bytes": {stream: []byte{flagLong, 0x40, 0, 0, 0, 0, 0, 0, 0}, wantIs: ErrLimit, wantErr: "4611686018427387904"},
		"announces 2^64-1":     {stream: []byte{flagLong, 255, 255, 255, 255, 255, 255, 255, 255}, wantIs: ErrLimit},
		"frame too large":      {stream: messageOf("12345"), opts: Options{MaxFrameSize: 4}, wantIs: ErrLimit, wantErr: "frame of 5"},
		"largest frame":        {stream: messageOf("1234"), opts: Options{MaxFrameSize: 4}, want: [][]string{{"1234"}}, wantIs: io.EOF},
		"message too large":    {stream: messageOf("123", "456"), opts: Options{MaxMessageSize: 5}, wantIs: ErrLimit, wantErr: "message of 6"},
		"too many frames":      {stream: messageOf("", "", ""), opts: Options{MaxFrames: 2}, wantIs: ErrLimit, wantErr: "more than 2"},
		"cut in header":        {stream: []byte{0}, wantIs: io.ErrUnexpectedEOF},
		"cut in long header":   {stream: []byte{flagLong, 0, 0}, wantIs: io.ErrUnexpectedEOF},
		"cut in body":          {stream: []byte{0, 4, 'a'}, wantIs: io.ErrUnexpectedEOF},
		"cut between frames":   {stream: []byte{flagMore, 1, 'a'}, wantIs: io.ErrUnexpectedEOF},
		"cut after a message":  {stream: join(messageOf("a"), []byte{0}), want: [][]string{{"a"}}, wantIs: io.ErrUnexpectedEOF},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, raw, err := scripted(t, join(readyOf("PUB"), tc.stream), tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			raw.written.Reset()
			got, err := receiveAll(c)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if !errors.Is(err, tc.wantIs) || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got error %v, want %v with %q", err, tc.wantIs, tc.wantErr)
			}
			if _, again := c.Recv(); !errors.Is(again, tc.wantIs) {
				t.Errorf("Recv after the error: got %v, want %v", again, tc.wantIs)
			}
			if diff := cmp.Diff(string(tc.sent), raw.written.String()); diff != "" {
				t.Errorf("sent to the peer (-want +got):\n%s", diff)
			}
		})
	}
}

// haltingReader lets one byte through, then a passed deadline, and so on.
type haltingReader struct {
	stream []byte
	halt   bool
}

func (r *haltingReader) Read(p []byte) (int, error) {
	r.halt = !r.halt
	if r.halt {
		return 0, os.ErrDeadlineExceeded
	}
	if len(r.stream) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1], r.stream)
	r.stream = r.stream[n:]
	return n, nil
}

// TestRecvResumes holds that a deadline can pass at any byte of the stream
// without harm.
func TestRecvResumes(t *testing.T) {
	long := strings.Repeat("y", 300)
	stream := join(messageOf("a", long), appendCommand(nil, commandPing, []byte("\x00\x00")), messageOf("b"))
	c := &Conn{
		conn: &scriptConn{},
		in:   newReader(&haltingReader{stream: stream}, Options{}.withDefaults()),
	}
	var got [][]string
	deadlines := 0
	for {
		messages, err := receiveAll(c)
		got = append(got, messages...)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		deadlines++
	}
	if diff := cmp.Diff([][]string{{"a", long}, {"b"}}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if deadlines < len(stream) {
		t.Errorf("%d deadlines passed in %d bytes", deadlines, len(stream))
	}
}

// TestAnnouncedBytesCostNothing holds that memory follows what arrives, not
// what a peer announces.
func TestAnnouncedBytesCostNothing(t *testing.T) {
	c, _, err := scripted(t, join(readyOf("PUB"), []byte{flagLong, 0, 0, 0, 0, 1, 0, 0, 0, 'x'}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recv(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	if got := cap(c.in.body); got > 2*growStep {
		t.Errorf("a frame of 16 MiB of which one byte came holds %d bytes", got)
	}
}

// TestLargeBufferIsReleased holds that one large message does not stay in
// memory for the life of the connection.
func TestLargeBufferIsReleased(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 2*keepBuffer)
	c, _, err := scripted(t, join(readyOf("PUB"), messageOf(string(large)), messageOf("small")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	if got := cap(c.in.body); got > keepBuffer {
		t.Errorf("after a small message the buffer holds %d bytes", got)
	}
}

func TestCloseEndsRecv(t *testing.T) {
	endpoint := acceptOne(t, func(conn net.Conn) {
		_, _ = conn.Write(readyOf("PUB"))
		_, _ = io.Copy(io.Discard, conn)
	})
	c, err := DialSub(t.Context(), endpoint, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recv(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: got %v", err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := c.Recv()
		ended <- err
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, net.ErrClosed)
	}
}

// TestUnreadHeartbeatAnswers holds that a peer that floods heartbeats and never
// reads cannot block a reader for ever.
func TestUnreadHeartbeatAnswers(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	c := &Conn{conn: ours, in: newReader(ours, Options{}.withDefaults()), writeTimeout: time.Millisecond}
	go func() { _, _ = theirs.Write(appendCommand(nil, commandPing, []byte("\x00\x00"))) }()
	if _, err := c.Recv(); !errors.Is(err, ErrProtocol) {
		t.Errorf("got %v, want %v", err, ErrProtocol)
	}
}

func TestSendNothing(t *testing.T) {
	c, _, err := scripted(t, readyOf("PUB"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(); err == nil {
		t.Error("a message without frames was sent")
	}
}
