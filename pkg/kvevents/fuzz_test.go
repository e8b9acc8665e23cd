/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"bytes"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/mutation"
)

// FuzzDecode feeds any payload to the decoder. It must not panic, must stay
// within its bounds, must decode the same again, and must never take for a batch
// what a general library cannot read to its end.
func FuzzDecode(f *testing.F) {
	corpus := mutation.New(f, 20000)
	for _, seed := range []struct{ dir, scenario string }{
		{"vllm/0.9.2", "clear"}, {"vllm/0.22.1", "salt"}, {"vllm/0.32.0-bytes", "clear"}, {"vllm/0.32.0-lora", "lora"},
		{"vllm/0.32.0-hybrid", "salt"}, {"sglang/0.5.5", "p16-repeated-page"}, {"sglang/0.5.19", "p16-basic"}, {"sglang/0.5.23", "p16-salt"},
	} {
		recording, err := captures.Load(seed.dir, seed.scenario)
		if err != nil {
			f.Fatal(err)
		}
		for _, frame := range recording.Frames[:2] {
			corpus.Add(frame.Frames[2])
		}
	}
	corpus.Add([]byte("\x92\x01\x91\xdd\xff\xff\xff\xff"))
	corpus.Add([]byte("\x92\x01\x91\x98\xabBlockStored\x90\xc0\x90\x01\xc0\xc0\x81\xa9lora_name\x81\xa9lora_name\xc0"))
	corpus.Fuzz(func(t *testing.T, payload []byte) {
		var decoder Decoder
		batch, err := decoder.Decode(payload)
		if err != nil {
			return
		}
		if err := msgpack.NewDecoder(bytes.NewReader(payload)).Skip(); err != nil {
			t.Fatalf("a general library cannot read this batch: %v", err)
		}
		values := batch.Skipped
		for i := range batch.Events {
			values += checkFuzzedEvent(t, &batch.Events[i])
		}
		if values > len(payload) {
			t.Fatalf("%d values came out of %d bytes", values, len(payload))
		}
		events, skipped := len(batch.Events), batch.Skipped
		again, err := decoder.Decode(payload)
		if err != nil || len(again.Events) != events || again.Skipped != skipped {
			t.Fatalf("the second time: %d events, %d skipped, error %v", len(again.Events), again.Skipped, err)
		}
	})
}

// checkFuzzedEvent checks what every event promises, and counts its values.
func checkFuzzedEvent(t *testing.T, e *Event) (values int) {
	t.Helper()
	switch e.Kind {
	case BlockStored:
		if e.BlockSize < 1 {
			t.Fatalf("block size %d", e.BlockSize)
		}
	case BlockRemoved, AllBlocksCleared:
		if len(e.Tokens) > 0 || e.HasParent || e.BlockSize != 0 {
			t.Fatalf("a %s has the fields of a store", e.Kind)
		}
	default:
		t.Fatalf("event of kind %d", e.Kind)
	}
	if e.RemainingCopies != nil && len(e.RemainingCopies) != len(e.Hashes) {
		t.Fatalf("%d counts for %d hashes", len(e.RemainingCopies), len(e.Hashes))
	}
	for _, keys := range e.ExtraKeys {
		values += 1 + len(keys)
	}
	return values + 1 + len(e.Hashes) + len(e.Tokens) + len(e.RemainingCopies)
}

// FuzzFrames feeds any frames to both parsers, which share one promise: a message
// or an error, and the frames untouched.
func FuzzFrames(f *testing.F) {
	corpus := mutation.New(f, 5000)
	corpus.Add([]byte(""), []byte("kv-events"), wire(1), []byte("payload"), uint8(4))
	corpus.Add([]byte(""), wire(endSequence), []byte(""), []byte(""), uint8(3))
	corpus.Add([]byte("kv-events"), wire(0), []byte("payload"), []byte(""), uint8(3))
	corpus.Fuzz(func(t *testing.T, a, b, c, d []byte, n uint8) {
		frames := [][]byte{a, b, c, d, a}[:n%6]
		live, err := ParseMessage(frames)
		if err == nil && (len(frames) != 3 || string(wire(live.Sequence)) != string(b) || string(live.Payload) != string(c)) {
			t.Fatalf("%q became %+v", frames, live)
		}
		replayed, end, err := parseReply(frames)
		if err != nil {
			return
		}
		last := len(frames) - 1
		if len(frames[0]) != 0 || string(wire(replayed.Sequence)) != string(frames[last-1]) || string(replayed.Payload) != string(frames[last]) {
			t.Fatalf("%q became %+v", frames, replayed)
		}
		if end != (replayed.Sequence == endSequence || len(replayed.Payload) == 0) {
			t.Fatalf("%q: end is %t", frames, end)
		}
	})
}
