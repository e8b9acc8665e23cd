//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// recorder writes what an engine publishes and is asked, as test/captures reads
// it. It is safe for concurrent use.
type recorder struct {
	dir string

	mu sync.Mutex
	// lives counts the engine's processes: each is a recording of its own.
	lives            int
	frames, requests *os.File
}

// next begins the recording of a new process of the engine.
func (r *recorder) next() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.closeFiles()
	r.lives++
	for kind, file := range map[string]**os.File{"frames": &r.frames, "requests": &r.requests} {
		opened, openErr := os.Create(filepath.Join(r.dir, fmt.Sprintf("life%d.%s.jsonl", r.lives, kind)))
		*file, err = opened, errors.Join(err, openErr)
	}
	return err
}

func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closeFiles()
}

func (r *recorder) closeFiles() error {
	var err error
	for _, file := range []*os.File{r.frames, r.requests} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	r.frames, r.requests = nil, nil
	return err
}

// message adds what the engine has published.
func (r *recorder) message(m kvevents.Message, sequence []byte) error {
	return r.add(&r.frames, map[string]any{
		"at_ms":  time.Now().UnixMilli(),
		"frames": []string{hex.EncodeToString(m.Topic), hex.EncodeToString(sequence), hex.EncodeToString(m.Payload)},
	})
}

// request adds what the engine was asked and what it said.
func (r *recorder) request(operation string, sent time.Time, body any, c completion) error {
	return r.add(&r.requests, map[string]any{
		"op": operation, "sent_ms": sent.UnixMilli(), "done_ms": time.Now().UnixMilli(), "status": http.StatusOK,
		"request": body, "output_token_ids": c.output, "cached_tokens": c.cached,
	})
}

func (r *recorder) add(file **os.File, line any) error {
	encoded, err := json.Marshal(line)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if *file == nil {
		return errors.New("nothing is being recorded")
	}
	_, err = (*file).Write(append(encoded, '\n'))
	return err
}
