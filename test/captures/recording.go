/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package captures

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// BaseModel is the name under which every recorded server offered its model.
const BaseModel = "tiny-llama"

// Endings of the files that make up one scenario.
const (
	framesSuffix   = ".frames.jsonl"
	requestsSuffix = ".requests.jsonl"
	decodedSuffix  = ".decoded.jsonl"
)

// Recording is what one engine process published and was asked.
type Recording struct {
	// Engine is "vllm" or "sglang", Version its release with what is special
	// about the run, such as "0.32.0-hybrid": the names of the two folders.
	Engine, Version string
	// Frames are the published messages in order.
	Frames []Frame
	// Requests are the operations in the order in which they were sent.
	Requests []Request
}

// Frame is one message of the engine's PUB socket.
type Frame struct {
	// Scenario is the file from which the message is.
	Scenario string
	// AtMS is when the recorder received it, in ms; since 1970 for vLLM, since
	// the recorder's start for SGLang.
	AtMS int64
	// Timestamp is when the engine made the batch, in seconds since 1970.
	Timestamp float64
	// Frames are the topic, the sequence and the payload.
	Frames [][]byte
}

// Sequence returns the message's number.
func (f Frame) Sequence() uint64 {
	return binary.BigEndian.Uint64(f.Frames[1])
}

// Operations that a [Request] can be.
const (
	// OpGenerate is an inference request.
	OpGenerate = "generate"
	// OpReset is a reset of the prefix cache.
	OpReset = "reset"
)

// Request is one thing that was done to an engine.
type Request struct {
	// Scenario is the file from which the request is, Part the part of it for
	// SGLang's servers, whose files have several.
	Scenario, Part string
	// Op is OpGenerate, OpReset, or the recorder's own word for anything else,
	// such as "load_lora_adapter" or the in-process "insert" and "evict".
	Op string
	// Name is the name of an adapter that is loaded or unloaded.
	Name string
	// Concurrent is true if another request was under way at the same time: the
	// engine may have answered before it published what the other one did.
	Concurrent bool
	// SentMS and DoneMS are in ms since 1970, on the clock of the frames'
	// Timestamp; 0 in recordings made in process.
	SentMS, DoneMS int64
	// Prompt holds the token ids sent, OutputTokens those generated.
	Prompt, OutputTokens []uint32
	// Model is the base model's name; Adapter is the LoRA adapter, if any.
	Model, Adapter string
	// CacheSalt, ExtraKey and SessionID are as sent.
	CacheSalt, ExtraKey, SessionID string
	// Rank is the data-parallel rank that served the request; nil if unknown.
	Rank *int
	// CachedTokens is how many prompt tokens the engine says it reused; nil if
	// it made no statement. vLLM 0.22 leaves the field out for 0, which is 0
	// here. HostTokens are those of them that came from SGLang's host tier.
	CachedTokens *int
	HostTokens   int
	// TreeTokens is, in process, how many tokens of the prompt the tree held
	// before an insert or at a match; not limited to less than the prompt.
	TreeTokens *int
	// Status is the HTTP status, 0 for a request that was given up.
	Status int

	// batches is, in process, the number of messages the operation caused.
	batches int
}

// Load reads one scenario. A relative dir, such as "vllm/0.32.0", is taken from
// [Root]. A scenario without requests of its own has none.
func Load(dir, scenario string) (*Recording, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	r := newRecording(dir)
	if err := r.add(dir, scenario); err != nil {
		return nil, err
	}
	return r, nil
}

// LoadProcess reads all scenarios of dir as the one run of one engine that they
// are; so it is for vLLM's folders only, whose sequences go on from file to file.
// Messages of other data-parallel ranks are left out.
func LoadProcess(dir string) (*Recording, error) {
	scenarios, err := Scenarios(dir)
	if err != nil {
		return nil, err
	}
	if dir, err = resolve(dir); err != nil {
		return nil, err
	}
	r := newRecording(dir)
	for _, scenario := range scenarios {
		if strings.HasPrefix(scenario, "rank") {
			continue
		}
		if err := r.add(dir, scenario); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Scenarios returns the scenarios of a folder in the order of their recording.
func Scenarios(dir string) ([]string, error) {
	dir, err := resolve(dir)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+framesSuffix))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no recordings in %s", dir)
	}
	started := map[string]float64{}
	var scenarios []string
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), framesSuffix)
		frames, err := readFrames(path, name)
		if err != nil {
			return nil, err
		}
		if len(frames) == 0 {
			return nil, fmt.Errorf("no messages in %s", path)
		}
		started[name] = frames[0].Timestamp
		scenarios = append(scenarios, name)
	}
	slices.SortFunc(scenarios, func(a, b string) int {
		if started[a] < started[b] {
			return -1
		}
		return 1
	})
	return scenarios, nil
}

// FramesBefore returns how many of Frames the engine had published when request
// i was sent.
func (r *Recording) FramesBefore(i int) int {
	if r.Requests[i].SentMS == 0 {
		n := 0
		for _, earlier := range r.Requests[:i] {
			n += earlier.batches
		}
		return min(n, len(r.Frames))
	}
	sent := float64(r.Requests[i].SentMS) / 1000
	n := 0
	for n < len(r.Frames) && r.Frames[n].Timestamp < sent {
		n++
	}
	return n
}

// Folders returns the folder of every recorded engine, absolute and in order. The
// recordings of stores beside them are files of [LoadExchanges].
func Folders() ([]string, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, engine := range []string{"sglang", "vllm"} {
		versions, err := filepath.Glob(filepath.Join(root, engine, "*"))
		if err != nil {
			return nil, err
		}
		if len(versions) == 0 {
			return nil, fmt.Errorf("no recordings of %s in %s", engine, root)
		}
		dirs = append(dirs, versions...)
	}
	return dirs, nil
}

// Root returns the folder of the recordings, found from the working directory
// upwards through the folder of go.mod.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "test", "captures"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above it: run from inside the repository", start)
		}
	}
}

// resolve returns the absolute form of a folder.
func resolve(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, dir), nil
}

// newRecording returns an empty recording named after its folders.
func newRecording(dir string) *Recording {
	return &Recording{Engine: filepath.Base(filepath.Dir(dir)), Version: filepath.Base(dir)}
}

// add appends the files of one scenario.
func (r *Recording) add(dir, scenario string) error {
	frames, err := readFrames(filepath.Join(dir, scenario+framesSuffix), scenario)
	if err != nil {
		return err
	}
	requests, err := readRequests(filepath.Join(dir, scenario+requestsSuffix), scenario)
	if err != nil {
		return err
	}
	r.Frames = append(r.Frames, frames...)
	r.Requests = append(r.Requests, requests...)
	return nil
}
