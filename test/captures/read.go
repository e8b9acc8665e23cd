/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package captures

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// hexFrames are the frames of a message as they are written in the files.
type hexFrames [][]byte

// UnmarshalJSON reads a list of hex strings.
func (f *hexFrames) UnmarshalJSON(raw []byte) error {
	var texts []string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return err
	}
	*f = make(hexFrames, len(texts))
	for i, text := range texts {
		frame, err := hex.DecodeString(text)
		if err != nil {
			return fmt.Errorf("frame %d: %w", i, err)
		}
		(*f)[i] = frame
	}
	return nil
}

// readLines calls fn with a decoder's target for every line of a file.
func readLines[T any](path string, fn func(T) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read from
	decoder := json.NewDecoder(bufio.NewReader(file))
	for line := 1; ; line++ {
		var value T
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(value)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
}

// readFrames reads a file of published messages.
func readFrames(path, scenario string) ([]Frame, error) {
	type line struct {
		AtMS   int64     `json:"at_ms"`
		Frames hexFrames `json:"frames"`
	}
	var frames []Frame
	err := readLines(path, func(l line) error {
		if len(l.Frames) != 3 || len(l.Frames[1]) != 8 {
			return fmt.Errorf("a message of %d frames, want topic, sequence and payload", len(l.Frames))
		}
		at, err := timestamp(l.Frames[2])
		if err != nil {
			return err
		}
		frames = append(frames, Frame{Scenario: scenario, AtMS: l.AtMS, Timestamp: at, Frames: l.Frames})
		return nil
	})
	return frames, err
}

// timestamp reads the first item of a batch: an array header of one byte, then
// a float64. All recorded payloads begin so.
func timestamp(payload []byte) (float64, error) {
	const arrayMask, array, float64Tag = 0xf0, 0x90, 0xcb
	if len(payload) < 10 || payload[0]&arrayMask != array || payload[1] != float64Tag {
		return 0, errors.New("the payload does not begin with a timestamp")
	}
	return math.Float64frombits(binary.BigEndian.Uint64(payload[2:])), nil
}

// Replay is a recorded conversation with an engine's replay socket.
type Replay struct {
	// Socket is the type of the asking socket, DEALER or REQ.
	Socket string
	// Start is the sequence that was asked for.
	Start uint64
	// Answers are the received messages, as the asking socket gets them.
	Answers [][][]byte
}

// LoadReplay reads a replay file, such as "vllm/0.22.1/replay_dealer_0.jsonl".
func LoadReplay(path string) (*Replay, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	type line struct {
		Dir    string    `json:"dir"`
		Socket string    `json:"socket"`
		Frames hexFrames `json:"frames"`
	}
	var replay Replay
	err = readLines(path, func(l line) error {
		if l.Dir == "answer" {
			replay.Answers = append(replay.Answers, l.Frames)
			return nil
		}
		if len(l.Frames) == 0 || len(l.Frames[len(l.Frames)-1]) != 8 {
			return errors.New("the request does not end with a sequence")
		}
		replay.Socket = l.Socket
		replay.Start = binary.BigEndian.Uint64(l.Frames[len(l.Frames)-1])
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &replay, nil
}

// Decoded is a message as a general msgpack library reads it: what this
// repository's decoder has to agree with. Byte strings are {"hex": …}.
type Decoded struct {
	// Topic and Sequence are those of the message.
	Topic    string `json:"topic"`
	Sequence uint64 `json:"seq"`
	// Payload is the batch.
	Payload json.RawMessage `json:"payload"`
}

// LoadDecoded reads what a general library made of a scenario's messages, one
// entry per message. A scenario for which there is no such file gives
// an error that wraps fs.ErrNotExist.
func LoadDecoded(dir, scenario string) ([]Decoded, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	var decoded []Decoded
	err = readLines(filepath.Join(dir, scenario+decodedSuffix), func(d Decoded) error {
		decoded = append(decoded, d)
		return nil
	})
	return decoded, err
}

// readRequests reads a log of operations; a missing file is an empty log.
func readRequests(path, scenario string) ([]Request, error) {
	var requests []Request
	part := ""
	err := readLines(path, func(l requestLine) error {
		if l.Op == opMarker {
			part = l.Name
			return nil
		}
		request := l.request()
		request.Scenario, request.Part = scenario, part
		requests = append(requests, request)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	// Parallel requests were logged in the order of their answers.
	slices.SortStableFunc(requests, func(a, b Request) int { return cmp.Compare(a.SentMS, b.SentMS) })
	markConcurrent(requests)
	return requests, err
}

// markConcurrent finds the requests that overlap another one in time.
func markConcurrent(requests []Request) {
	latest := 0 // the request that is under way longest
	for i := 1; i < len(requests); i++ {
		if requests[i].SentMS < requests[latest].DoneMS {
			requests[i].Concurrent, requests[latest].Concurrent = true, true
		}
		if requests[i].DoneMS >= requests[latest].DoneMS {
			latest = i
		}
	}
}
