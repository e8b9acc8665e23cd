/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/zmtp"
)

// publisher returns the live socket of an engine and its endpoint.
func publisher(t *testing.T) (zmq4.Socket, string) {
	t.Helper()
	socket := zmq4.NewPub(t.Context())
	if err := socket.Listen("tcp://127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, "tcp://" + socket.Addr().String()
}

// waitForTopic returns when a publisher knows that somebody wants the topic.
func waitForTopic(t *testing.T, socket zmq4.Socket, topic string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cmp.Equal([]string{topic}, socket.(zmq4.Topics).Topics()) {
		if time.Now().After(deadline) {
			t.Fatal("the subscription has not arrived")
		}
		<-tick.C
	}
}

func TestSubscribe(t *testing.T) {
	socket, endpoint := publisher(t)
	s, err := Subscribe(t.Context(), endpoint, "kv", zmtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	waitForTopic(t, socket, "kv")
	for _, frames := range [][][]byte{
		{[]byte("kv-events"), wire(0), []byte("a")},
		{[]byte("other"), wire(1), []byte("b")},
		{[]byte("kv-events"), []byte("no sequence"), []byte("c")},
		{[]byte("kv-events"), wire(3)},
		{[]byte("kv-events"), wire(4), []byte("e")},
	} {
		if err := socket.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
			t.Fatal(err)
		}
	}
	var got []uint64
	malformed := 0
	for len(got) < 2 {
		if err := s.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		message, err := s.Next()
		switch {
		case errors.Is(err, ErrMessage):
			malformed++
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, message.Sequence)
		}
	}
	if diff := cmp.Diff([]uint64{0, 4}, got); diff != "" || malformed != 2 {
		t.Errorf("%d malformed messages, sequences (-want +got):\n%s", malformed, diff)
	}
}

func TestSubscriptionEnds(t *testing.T) {
	tests := map[string]struct {
		end  func(s *Subscription, cancel context.CancelFunc) error
		want error
	}{
		"closed":    {func(s *Subscription, _ context.CancelFunc) error { return s.Close() }, net.ErrClosed},
		"cancelled": {func(_ *Subscription, cancel context.CancelFunc) error { cancel(); return nil }, context.Canceled},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, endpoint := publisher(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := Subscribe(ctx, endpoint, "", zmtp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if err := s.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Next(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("after the deadline: got error %v", err)
			}
			if err := s.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := s.Next()
				ended <- err
			}()
			if err := tc.end(s, cancel); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, tc.want) {
				t.Errorf("got error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestParseMessage(t *testing.T) {
	tests := map[string]struct {
		frames  [][]byte
		want    Message
		wantErr bool
	}{
		"message":        {frames: [][]byte{[]byte("t"), wire(7), []byte("p")}, want: Message{Topic: []byte("t"), Sequence: 7, Payload: []byte("p")}},
		"no topic":       {frames: [][]byte{{}, wire(0), []byte("p")}, want: Message{Topic: []byte{}, Payload: []byte("p")}},
		"no frames":      {wantErr: true},
		"two frames":     {frames: [][]byte{wire(7), []byte("p")}, wantErr: true},
		"four frames":    {frames: [][]byte{{}, {}, wire(7), []byte("p")}, wantErr: true},
		"short sequence": {frames: [][]byte{{}, []byte("7"), []byte("p")}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMessage(tc.frames)
			if (err != nil) != tc.wantErr || err != nil && !errors.Is(err, ErrMessage) {
				t.Fatalf("got error %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
