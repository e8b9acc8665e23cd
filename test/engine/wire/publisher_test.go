/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wire

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zeromq/zmq4"
	"github.com/google/go-cmp/cmp"
)

func newPublisher(t *testing.T, cfg Config) *Publisher {
	t.Helper()
	p, err := NewPublisher(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func message(sequence uint64) Message {
	return Message{Topic: []byte("kv"), Sequence: sequence, Payload: []byte{byte(sequence)}}
}

func dial(t *testing.T, socket zmq4.Socket, address string) zmq4.Socket {
	t.Helper()
	if err := socket.Dial("tcp://" + address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket
}

// replayFrom asks like a subscriber and returns the answers up to the marker,
// with the marker.
func replayFrom(t *testing.T, p *Publisher, start uint64, form ReplayForm) [][][]byte {
	t.Helper()
	dealer := dial(t, zmq4.NewDealer(t.Context()), p.ReplayAddr().String())
	if err := dealer.SendMulti(zmq4.NewMsgFrom([]byte{}, sequenceFrame(start))); err != nil {
		t.Fatal(err)
	}
	end := form.end(nil)[1:]
	var answers [][][]byte
	for {
		answer, err := dealer.Recv()
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer.Frames)
		if cmp.Equal(answer.Frames, end) {
			return answers
		}
	}
}

func TestReplayForms(t *testing.T) {
	ones := []byte{255, 255, 255, 255, 255, 255, 255, 255}
	tests := map[string]struct {
		form  ReplayForm
		start uint64
		want  [][][]byte
	}{
		"plain": {
			form:  ReplayPlain,
			start: 2,
			want: [][][]byte{
				{{}, {0, 0, 0, 0, 0, 0, 0, 2}, {2}},
				{{}, {0, 0, 0, 0, 0, 0, 0, 3}, {3}},
				{{}, ones, {}},
			},
		},
		"with topic": {
			form:  ReplayTopic,
			start: 3,
			want: [][][]byte{
				{{}, []byte("kv"), {0, 0, 0, 0, 0, 0, 0, 3}, {3}},
				{{}, {}, ones, {}},
			},
		},
		"start older than the buffer gives what is left": {
			form:  ReplayPlain,
			start: 0,
			want: [][][]byte{
				{{}, {0, 0, 0, 0, 0, 0, 0, 2}, {2}},
				{{}, {0, 0, 0, 0, 0, 0, 0, 3}, {3}},
				{{}, ones, {}},
			},
		},
		"start beyond the newest gives the marker": {
			form:  ReplayTopic,
			start: 9,
			want:  [][][]byte{{{}, {}, ones, {}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(t, Config{Form: test.form, BufferSteps: 2})
			for sequence := range uint64(4) {
				p.Keep(message(sequence))
			}
			if diff := cmp.Diff(test.want, replayFrom(t, p, test.start, test.form)); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLiveMessagesReachASubscriber(t *testing.T) {
	p := newPublisher(t, Config{})
	sub := dial(t, zmq4.NewSub(t.Context()), p.EventsAddr().String())
	if err := sub.SetOption(zmq4.OptionSubscribe, "k"); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitSubscribed(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Keep(message(0))
	for _, send := range []func(Message) error{p.Publish, p.Send} {
		if err := send(message(1)); err != nil {
			t.Fatal(err)
		}
		got, err := sub.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(message(1).Frames(), got.Frames); diff != "" {
			t.Errorf("frames (-want +got):\n%s", diff)
		}
	}
	if got := len(replayFrom(t, p, 0, ReplayPlain)); got != 3 {
		t.Errorf("replay has %d answers, want the kept and the published message and the marker", got)
	}
}

func TestWaitSubscribedEndsWithItsContext(t *testing.T) {
	p := newPublisher(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.WaitSubscribed(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestPortsAreFreeAfterClose(t *testing.T) {
	first, err := NewPublisher(Config{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{EventsAddress: first.EventsAddr().String(), ReplayAddress: first.ReplayAddr().String()}
	if _, err := NewPublisher(cfg); err == nil {
		t.Error("two publishers share a port")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	newPublisher(t, cfg)
}

func TestMalformedReplayRequestsAreIgnored(t *testing.T) {
	p := newPublisher(t, Config{})
	p.Keep(message(0))
	dealer := dial(t, zmq4.NewDealer(t.Context()), p.ReplayAddr().String())
	for _, frames := range [][][]byte{{{}}, {{1}, sequenceFrame(0)}, {{}, {1, 2}}, {{}, sequenceFrame(0), {}}} {
		if err := dealer.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(replayFrom(t, p, 0, ReplayPlain)); got != 2 {
		t.Errorf("got %d answers, want one message and the marker", got)
	}
	if got := p.Replays(); got > 1 {
		t.Errorf("counted %d replays, want at most the valid one", got)
	}
}
