//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

// startup is how long an engine may take to start, on an overloaded machine.
const startup = 10 * time.Minute

// engine is a vLLM through all of its lives: its addresses stay.
type engine struct {
	model    model
	dir      string
	http     string
	events   string
	replay   string
	process  *programs.Process
	weights  string
	recorder *recorder
}

func newEngine(m model, dir string, r *recorder) (*engine, error) {
	weights, err := m.write(dir)
	if err != nil {
		return nil, err
	}
	e := &engine{model: m, dir: dir, weights: weights, recorder: r}
	if e.http, err = programs.FreeAddress(); err != nil {
		return nil, err
	}
	if e.replay, err = programs.FreeAddress(); err != nil {
		return nil, err
	}
	// With tcp this release publishes on every interface or not at all.
	e.events, e.replay = "ipc://"+filepath.Join(dir, "events"), "tcp://"+e.replay
	return e, nil
}

// start runs the engine and waits until it serves.
func (e *engine) start(ctx context.Context) error {
	host, port, err := net.SplitHostPort(e.http)
	if err != nil {
		return err
	}
	events, err := json.Marshal(map[string]any{
		"enable_kv_cache_events": true, "publisher": "zmq", "endpoint": e.events, "replay_endpoint": e.replay,
	})
	if err != nil {
		return err
	}
	e.process, err = binaries.Start(programs.Command{
		Path: binaries.vllm, Log: e.log(), Group: true, Tied: true,
		Args: []string{
			"serve", e.weights, "--host", host, "--port", port, "--served-model-name", captures.BaseModel,
			"--load-format", "dummy", "--skip-tokenizer-init", "--dtype", "float32", "--enforce-eager",
			"--block-size", strconv.Itoa(blockSize), "--max-model-len", strconv.Itoa(e.model.maxTokens),
			"--num-gpu-blocks-override", strconv.Itoa(e.model.blocks),
			"--enable-prompt-tokens-details", "--kv-events-config", string(events),
		},
		Env: []string{
			"VLLM_CPU_KVCACHE_SPACE=1", "VLLM_CPU_OMP_THREADS_BIND=nobind", "OMP_NUM_THREADS=1",
			"VLLM_HOST_IP=" + host, "VLLM_SERVER_DEV_MODE=1", "VLLM_NO_USAGE_STATS=1",
			"HF_HUB_OFFLINE=1", "PYTHONHASHSEED=0",
		},
	})
	if err != nil {
		return err
	}
	if err := e.awaitHealth(ctx); err != nil {
		return fmt.Errorf("engine: %w\n%s", err, programs.Tail(e.log()))
	}
	return nil
}

func (e *engine) awaitHealth(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startup)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := e.call(ctx, http.MethodGet, "/health", nil); err == nil {
			return nil
		}
		select {
		case <-e.process.Ended():
			return errors.New("it ended before it served")
		case <-ctx.Done():
			return fmt.Errorf("it does not serve: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

func (e *engine) log() string { return filepath.Join(e.dir, "engine.log") }

// metrics is the page on which the engine shows its load.
func (e *engine) metrics() string { return "http://" + e.http + "/metrics" }

// completion is what the engine says of a request.
type completion struct {
	output []uint32
	// cached is how many tokens of the prompt it has reused.
	cached int
}

// complete runs a request. The operation is its name in the recording.
func (e *engine) complete(ctx context.Context, operation string, request sim.Request) (completion, error) {
	body := map[string]any{
		"model": captures.BaseModel, "prompt": request.Tokens, "max_tokens": request.MaxTokens,
		"temperature": 0, "ignore_eos": true, "return_token_ids": true,
	}
	if request.Salt != "" {
		body["cache_salt"] = request.Salt
	}
	sent := time.Now()
	answer, err := e.call(ctx, http.MethodPost, "/v1/completions", body)
	if err != nil {
		return completion{}, err
	}
	var said struct {
		Choices []struct {
			Tokens []uint32 `json:"token_ids"`
		} `json:"choices"`
		Usage struct {
			Details struct {
				Cached *int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return completion{}, fmt.Errorf("read the engine's answer: %w", err)
	}
	if len(said.Choices) != 1 || said.Usage.Details.Cached == nil {
		return completion{}, fmt.Errorf("the engine does not say what it reused: %.300s", answer)
	}
	c := completion{output: said.Choices[0].Tokens, cached: *said.Usage.Details.Cached}
	return c, e.recorder.request(operation, sent, body, c)
}

// reset empties the engine's cache. It refuses while a request holds blocks,
// which can outlive the answer to it for a moment.
func (e *engine) reset(ctx context.Context) error {
	sent := time.Now()
	err := programs.Poll(ctx, func() error {
		answer, err := e.call(ctx, http.MethodPost, "/reset_prefix_cache", nil)
		if err == nil && !bytes.Contains(answer, []byte("true")) {
			err = fmt.Errorf("the engine did not reset its cache: %.300s", answer)
		}
		return err
	})
	if err != nil {
		return err
	}
	return e.recorder.request("reset_prefix_cache", sent, nil, completion{})
}

// call makes one request of HTTP.
func (e *engine) call(ctx context.Context, method, path string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, programs.Patience)
	defer cancel()
	var sent io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+e.http+path, sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // only read from
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s: %.300s", method, path, response.Status, answer)
	}
	return answer, nil
}
