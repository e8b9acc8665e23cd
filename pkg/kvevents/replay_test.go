/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/google/go-cmp/cmp"
)

// wire returns the wire form of a sequence.
func wire(sequence uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, sequence)
}

// answer is what a replay socket sends for one message: the frames behind the
// identity.
type answer [][]byte

// older and newer return the two forms of an answer; end is the marker of each.
func older(sequence uint64, payload string) answer {
	return answer{nil, wire(sequence), []byte(payload)}
}

func newer(sequence uint64, payload string) answer {
	return answer{nil, []byte("kv-events"), wire(sequence), []byte(payload)}
}

func olderEnd() answer { return answer{nil, wire(endSequence), nil} }
func newerEnd() answer { return answer{nil, nil, wire(endSequence), nil} }

// replayer is the replay socket of an engine that gives fixed answers to every
// request. It returns the endpoint and the requests it got.
func replayer(t *testing.T, answers ...answer) (endpoint string, requests <-chan [][]byte) {
	t.Helper()
	router := zmq4.NewRouter(t.Context())
	if err := router.Listen("tcp://127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	got := make(chan [][]byte, 16)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			request, err := router.Recv()
			if err != nil || len(request.Frames) == 0 {
				return
			}
			got <- request.Frames[1:]
			for _, a := range answers {
				if router.SendMulti(zmq4.NewMsgFrom(append([][]byte{request.Frames[0]}, a...)...)) != nil {
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = router.Close()
		<-done
	})
	return "tcp://" + router.Addr().String(), got
}

func TestReplay(t *testing.T) {
	const start = 5
	short := ReplayOptions{Idle: 100 * time.Millisecond}
	tests := map[string]struct {
		answers []answer
		opts    ReplayOptions
		want    ReplayResult
		got     []string
		wantIs  error
	}{
		"older form": {
			answers: []answer{older(5, "a"), older(6, "b"), olderEnd()},
			want:    ReplayResult{First: 5, Next: 7, Delivered: 2, Ended: true},
			got:     []string{"5  a", "6  b"},
		},
		"newer form": {
			answers: []answer{newer(5, "a"), newer(6, "b"), newerEnd()},
			want:    ReplayResult{First: 5, Next: 7, Delivered: 2, Ended: true},
			got:     []string{"5 kv-events a", "6 kv-events b"},
		},
		"newer form, empty topic": {
			answers: []answer{{nil, nil, wire(5), []byte("a")}, newerEnd()},
			want:    ReplayResult{First: 5, Next: 6, Delivered: 1, Ended: true},
			got:     []string{"5  a"},
		},
		"nothing new": {
			answers: []answer{newerEnd()},
			want:    ReplayResult{First: 5, Next: 5, Ended: true},
		},
		"older ones are gone": {
			answers: []answer{older(8, "a"), older(9, "b"), olderEnd()},
			want:    ReplayResult{First: 8, Next: 10, Delivered: 2, Ended: true},
			got:     []string{"8  a", "9  b"},
		},
		"a hole": {
			answers: []answer{older(5, "a"), older(7, "c"), older(8, "d"), olderEnd()},
			want:    ReplayResult{First: 5, Next: 6, Delivered: 1, Ended: true, Hole: true, Discarded: 2},
			got:     []string{"5  a"},
		},
		"repetitions": {
			answers: []answer{older(4, "z"), older(5, "a"), older(5, "a"), older(6, "b"), olderEnd()},
			want:    ReplayResult{First: 5, Next: 7, Delivered: 2, Ended: true, Discarded: 2},
			got:     []string{"5  a", "6  b"},
		},
		"marker is lost": {
			answers: []answer{older(5, "a")},
			opts:    short,
			want:    ReplayResult{First: 5, Next: 6, Delivered: 1},
			got:     []string{"5  a"},
		},
		"no answer": {
			opts: short,
			want: ReplayResult{First: 5, Next: 5},
		},
		"total time": {
			opts: ReplayOptions{Total: 100 * time.Millisecond, Idle: time.Hour},
			want: ReplayResult{First: 5, Next: 5},
		},
		"number of messages": {
			answers: []answer{older(5, "a"), older(6, "b"), older(7, "c"), olderEnd()},
			opts:    ReplayOptions{MaxMessages: 2},
			want:    ReplayResult{First: 5, Next: 7, Delivered: 2},
			got:     []string{"5  a", "6  b"},
		},
		"number of bytes": {
			answers: []answer{older(5, "aaa"), older(6, "bbb"), older(7, "c"), olderEnd()},
			opts:    ReplayOptions{MaxBytes: 4},
			want:    ReplayResult{First: 5, Next: 7, Delivered: 2},
			got:     []string{"5  aaa", "6  bbb"},
		},
		"endless repetitions": {
			answers: []answer{older(4, "x"), older(4, "x"), older(4, "x"), older(4, "x")},
			opts:    ReplayOptions{MaxMessages: 3},
			want:    ReplayResult{First: 5, Next: 5, Discarded: 3},
		},
		"malformed answer": {
			answers: []answer{older(5, "a"), {nil, []byte("short"), []byte("b")}},
			want:    ReplayResult{First: 5, Next: 6, Delivered: 1},
			got:     []string{"5  a"},
			wantIs:  ErrMessage,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			endpoint, requests := replayer(t, tc.answers...)
			var got []string
			result, err := Replay(t.Context(), endpoint, start, tc.opts, func(m Message) error {
				got = append(got, fmt.Sprintf("%d %s %s", m.Sequence, m.Topic, m.Payload))
				return nil
			})
			if !errors.Is(err, tc.wantIs) {
				t.Errorf("got error %v, want %v", err, tc.wantIs)
			}
			if diff := cmp.Diff(tc.want, result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.got, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([][]byte{{}, wire(start)}, <-requests); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplayCallbackFails holds that the result counts up to the message that
// the callback did not take.
func TestReplayCallbackFails(t *testing.T) {
	endpoint, _ := replayer(t, older(5, "a"), older(6, "b"), olderEnd())
	full := errors.New("full")
	result, err := Replay(t.Context(), endpoint, 5, ReplayOptions{}, func(m Message) error {
		if m.Sequence == 6 {
			return full
		}
		return nil
	})
	want := ReplayResult{First: 5, Next: 6, Delivered: 1, Ended: true}
	if diff := cmp.Diff(want, result); diff != "" || !errors.Is(err, full) {
		t.Errorf("error %v, result (-want +got):\n%s", err, diff)
	}
}

func TestReplayCancelled(t *testing.T) {
	endpoint, requests := replayer(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-requests
		cancel()
	}()
	_, err := Replay(ctx, endpoint, 0, ReplayOptions{Idle: time.Hour}, func(Message) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestReplayNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "tcp://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	result, err := Replay(t.Context(), endpoint, 3, ReplayOptions{}, func(Message) error { return nil })
	if err == nil || !strings.Contains(err.Error(), endpoint) {
		t.Errorf("got error %v, want one that names %s", err, endpoint)
	}
	if diff := cmp.Diff(ReplayResult{First: 3, Next: 3}, result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestParseReply(t *testing.T) {
	tests := map[string]struct {
		frames  [][]byte
		want    Message
		end     bool
		wantErr bool
	}{
		"older":             {frames: older(1, "x"), want: Message{Sequence: 1, Payload: []byte("x")}},
		"newer":             {frames: newer(1, "x"), want: Message{Topic: []byte("kv-events"), Sequence: 1, Payload: []byte("x")}},
		"older end":         {frames: olderEnd(), want: Message{Sequence: endSequence}, end: true},
		"newer end":         {frames: newerEnd(), want: Message{Sequence: endSequence}, end: true},
		"empty payload":     {frames: older(7, ""), want: Message{Sequence: 7, Payload: []byte{}}, end: true},
		"no frames":         {wantErr: true},
		"no envelope":       {frames: [][]byte{wire(1), []byte("x")}, wantErr: true},
		"envelope only":     {frames: [][]byte{nil}, wantErr: true},
		"too many frames":   {frames: [][]byte{nil, nil, wire(1), nil, nil}, wantErr: true},
		"sequence too long": {frames: [][]byte{nil, make([]byte, 9), []byte("x")}, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, end, err := parseReply(tc.frames)
			if (err != nil) != tc.wantErr || end != tc.end {
				t.Fatalf("end %t, error %v", end, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
