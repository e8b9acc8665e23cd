/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package player

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/zmtp"
	"inferencecache.io/inference-cache/test/captures"
)

func load(t *testing.T, dir, scenario string) *captures.Recording {
	t.Helper()
	recording, err := captures.Load(dir, scenario)
	if err != nil {
		t.Fatal(err)
	}
	return recording
}

func play(t *testing.T, recording *captures.Recording) *Player {
	t.Helper()
	p, err := New(recording)
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

func TestLiveFramesAreTheRecordedOnes(t *testing.T) {
	recording := load(t, "vllm/0.32.0", "prefix")
	p := play(t, recording)
	sub, err := kvevents.Subscribe(t.Context(), p.EventsEndpoint(), "", zmtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	if err := p.WaitSubscribed(t.Context()); err != nil {
		t.Fatal(err)
	}
	received := 0
	for i := range recording.Requests {
		if err := p.AdvanceToRequest(i); err != nil {
			t.Fatal(err)
		}
		for ; received < recording.FramesBefore(i); received++ {
			m, err := sub.Next()
			if err != nil {
				t.Fatal(err)
			}
			frame := recording.Frames[received]
			if m.Sequence != frame.Sequence() || !bytes.Equal(m.Topic, frame.Frames[0]) || !bytes.Equal(m.Payload, frame.Frames[2]) {
				t.Fatalf("message %d differs from the recorded one", received)
			}
		}
	}
	if received == 0 {
		t.Error("nothing was sent before the last request")
	}
}

func TestReplayIsWhatTheEngineReplayed(t *testing.T) {
	tests := map[string]struct{ dir, scenario, replay string }{
		"vllm with topic":      {"vllm/0.32.0-copies", "twice", "vllm/0.32.0-copies/replay_dealer_0.jsonl"},
		"sglang with topic":    {"sglang/0.5.23", "p16-basic", "sglang/0.5.23/replay_p16-basic.from0.jsonl"},
		"sglang before maps":   {"sglang/0.5.16", "p1-basic", "sglang/0.5.16/replay_p1-basic.from0.jsonl"},
		"sglang without topic": {"sglang/0.5.20", "p1-basic", "sglang/0.5.20/replay_p1-basic.from0.jsonl"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := play(t, load(t, test.dir, test.scenario))
			if err := p.AdvanceToEnd(); err != nil {
				t.Fatal(err)
			}
			recorded, err := captures.LoadReplay(test.replay)
			if err != nil {
				t.Fatal(err)
			}
			want := recorded.Answers
			got := dealerAnswers(t, p, len(want))
			for i := range want {
				// The first message of SGLang is made anew: its time differs.
				if i == 0 && bytes.Contains(want[i][len(want[i])-1], []byte("AllBlocksCleared")) {
					blank(want[i])
					blank(got[i])
				}
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Fatalf("answer %d (-recorded +played):\n%s", i, diff)
				}
			}
		})
	}
}

// blank takes the time out of the payload, which is the last frame.
func blank(frames [][]byte) {
	payload := frames[len(frames)-1]
	copy(payload[2:10], make([]byte, 8))
}

// dealerAnswers asks for everything and reads so many answers.
func dealerAnswers(t *testing.T, p *Player, n int) [][][]byte {
	t.Helper()
	conn, err := zmtp.DialDealer(t.Context(), p.ReplayEndpoint(), zmtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.Send([]byte{}, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	var answers [][][]byte
	for range n {
		frames, err := conn.Recv()
		if err != nil {
			t.Fatal(err)
		}
		var answer [][]byte
		for _, frame := range frames {
			answer = append(answer, bytes.Clone(frame))
		}
		answers = append(answers, answer)
	}
	return answers
}

func TestAdvance(t *testing.T) {
	recording := load(t, "vllm/0.32.0", "prefix")
	p := play(t, recording)
	if _, ok := p.Newest(); ok {
		t.Error("something was sent before the first advance")
	}
	// The second message is not older than itself; going back sends
	// nothing and takes nothing back.
	for _, untilMS := range []int64{int64(recording.Frames[1].Timestamp * 1000), 0} {
		if err := p.Advance(untilMS); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := p.Newest(); got != recording.Frames[0].Sequence() {
		t.Errorf("newest is %d, want the first", got)
	}
}

func TestUnknownEngine(t *testing.T) {
	if _, err := New(&captures.Recording{Engine: "other", Version: "1.0"}); err == nil {
		t.Error("an engine without a known wire is played")
	}
}
