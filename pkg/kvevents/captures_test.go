/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"inferencecache.io/inference-cache/test/captures"
)

// recordedFolders returns every folder of recordings.
func recordedFolders(t testing.TB) []string {
	t.Helper()
	dirs, err := captures.Folders()
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// TestDecodeRecordings decodes every recorded message of both engines and
// compares it with what a general library read, field by field. Recordings
// without such a file still have to decode without loss.
func TestDecodeRecordings(t *testing.T) {
	messages, compared := 0, 0
	for _, dir := range recordedFolders(t) {
		scenarios, err := captures.Scenarios(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, scenario := range scenarios {
			t.Run(filepath.Base(dir)+"/"+scenario, func(t *testing.T) {
				m, c := decodeRecording(t, dir, scenario)
				messages, compared = messages+m, compared+c
			})
		}
	}
	t.Logf("%d messages decoded, %d of them compared", messages, compared)
	if compared < 900 {
		t.Errorf("only %d messages were compared", compared)
	}
}

// wholeHashes compares hashes at once instead of byte by byte, which is most of
// the time that the comparison takes.
func wholeHashes() cmp.Option {
	return cmp.Comparer(func(a, b Hash) bool { return a == b })
}

func decodeRecording(t *testing.T, dir, scenario string) (messages, compared int) {
	t.Helper()
	recording, err := captures.Load(dir, scenario)
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := captures.LoadDecoded(dir, scenario)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if oracle != nil && len(oracle) != len(recording.Frames) {
		t.Fatalf("%d messages, %d decoded ones", len(recording.Frames), len(oracle))
	}
	var decoder Decoder
	for i, frame := range recording.Frames {
		message, err := ParseMessage(frame.Frames)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := decoder.Decode(message.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if batch.Skipped != 0 {
			t.Errorf("message %d: %d events were skipped", message.Sequence, batch.Skipped)
		}
		if oracle == nil {
			continue
		}
		compared++
		if message.Sequence != oracle[i].Sequence || string(message.Topic) != oracle[i].Topic {
			t.Errorf("message %d of topic %q, want %d of %q", message.Sequence, message.Topic, oracle[i].Sequence, oracle[i].Topic)
		}
		if diff := cmp.Diff(oracleBatch(t, oracle[i].Payload), batch, cmpopts.EquateEmpty(), wholeHashes()); diff != "" {
			t.Errorf("message %d (-want +got):\n%s", message.Sequence, diff)
		}
	}
	return len(recording.Frames), compared
}

// TestReplayRecordings reads every recorded answer of a replay socket: both
// forms parse, the messages have no gap and decode, and the end marker comes.
func TestReplayRecordings(t *testing.T) {
	replays := 0
	for _, dir := range recordedFolders(t) {
		paths, err := filepath.Glob(filepath.Join(dir, "*replay_*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			t.Run(filepath.Base(dir)+"/"+filepath.Base(path), func(t *testing.T) {
				replays++
				checkReplay(t, path)
			})
		}
	}
	if replays < 30 {
		t.Errorf("only %d recorded replays", replays)
	}
}

func checkReplay(t *testing.T, path string) {
	t.Helper()
	replay, err := captures.LoadReplay(path)
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	next := replay.Start
	for i, frames := range replay.Answers {
		if replay.Socket == "REQ" { // which strips the envelope
			frames = append([][]byte{nil}, frames...)
		}
		message, end, err := parseReply(frames)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if ended = end; end {
			continue
		}
		if i == 0 && message.Sequence > next {
			next = message.Sequence // the engine no longer has what is before
		}
		if message.Sequence != next {
			t.Errorf("answer %d has sequence %d, want %d", i, message.Sequence, next)
		}
		next++
		var decoder Decoder
		if batch, err := decoder.Decode(message.Payload); err != nil || batch.Skipped != 0 {
			t.Errorf("answer %d: batch %+v, error %v", i, batch, err)
		}
	}
	if !ended && replay.Socket == "DEALER" {
		t.Error("the replay has no end marker")
	}
}
