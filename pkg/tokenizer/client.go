/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tokenizer

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"
)

// Bounds of what is asked.
const (
	// MaxPromptBytes is the longest text that is tokenized.
	MaxPromptBytes = 1 << 20
	// MaxInFlight is the number of questions that may wait for their answers at a
	// time. Each may hold a text and an answer of the largest size.
	MaxInFlight = 64
)

// maxRedirects is how often one question may be sent on.
const maxRedirects = 3

// Errors that callers may want to tell from a tokenizer that fails.
var (
	// ErrNoTokenizer says that the model has no tokenizer.
	ErrNoTokenizer = errors.New("no tokenizer is configured for the model")
	// ErrBusy says that MaxInFlight questions are waiting already.
	ErrBusy = fmt.Errorf("%d prompts are being tokenized already", MaxInFlight)
	// ErrPrompt says that the text is too long or no text.
	ErrPrompt = fmt.Errorf("the prompt is longer than %d bytes or not UTF-8", MaxPromptBytes)
)

// Client asks the tokenizers of models. It is safe for concurrent use.
type Client struct {
	endpoints map[string]Endpoint
	http      *http.Client
	inFlight  chan struct{}
}

// New returns a client of some endpoints; with none, every question is answered
// with ErrNoTokenizer. It connects to nothing before it is asked. The error names
// an endpoint that cannot be asked or a model that has two.
//
// HTTPS tokenizers are verified with the authorities of the system. No proxy of
// the environment is used: text goes to the host that was named and nowhere else.
func New(endpoints []Endpoint) (*Client, error) {
	known, err := byModel(endpoints)
	if err != nil {
		return nil, err
	}
	return &Client{
		endpoints: known,
		http: &http.Client{
			Transport: &http.Transport{
				TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
				ForceAttemptHTTP2:   true,
				MaxIdleConnsPerHost: MaxInFlight,
				IdleConnTimeout:     time.Minute,
				// Headers count towards what a tokenizer may send.
				MaxResponseHeaderBytes: 1 << 16,
			},
			CheckRedirect: stayOnHost,
		},
		inFlight: make(chan struct{}, MaxInFlight),
	}, nil
}

// Tokenize returns the ids of a text in the vocabulary of a model, as the model's
// engine would see them. The context bounds the time; without a deadline a silent
// tokenizer is waited for. The error is ErrNoTokenizer, ErrBusy or ErrPrompt
// before anything is asked, else it says what the tokenizer did wrong; it wraps
// the context's error when that ended the wait. Nothing is asked twice.
func (c *Client) Tokenize(ctx context.Context, model, prompt string) ([]uint32, error) {
	endpoint, known := c.endpoints[model]
	if !known {
		return nil, ErrNoTokenizer
	}
	// Text that is not UTF-8 would be repaired on the way, and other tokens
	// than those of the prompt come back.
	if len(prompt) > MaxPromptBytes || !utf8.ValidString(prompt) {
		return nil, ErrPrompt
	}
	select {
	case c.inFlight <- struct{}{}:
		defer func() { <-c.inFlight }()
	default:
		return nil, ErrBusy
	}
	ids, err := c.ask(ctx, endpoint, prompt)
	if err != nil {
		return nil, fmt.Errorf("tokenizer of model %q: %w", model, withoutURL(err))
	}
	return ids, nil
}

// Close lets go of idle connections. The client can still be used.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ask puts one question.
func (c *Client) ask(ctx context.Context, endpoint Endpoint, prompt string) ([]uint32, error) {
	question, err := json.Marshal(questionOf(endpoint, prompt))
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.URL, bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered with status %d", response.StatusCode)
	}
	// One byte more than allowed tells too long from just fitting.
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(body)) > maxAnswerBytes {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswerBytes)
	}
	return parseAnswer(body)
}

// question is what a tokenizer is asked: a prompt, or a conversation.
type question struct {
	Model  string  `json:"model"`
	Prompt *string `json:"prompt,omitempty"`
	// AddSpecialTokens is what the engine's completions do; in a conversation the
	// chat template adds them.
	AddSpecialTokens    bool      `json:"add_special_tokens"`
	Messages            []message `json:"messages,omitempty"`
	AddGenerationPrompt bool      `json:"add_generation_prompt,omitempty"`
}

// message is one turn of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// questionOf puts a text in the form that the endpoint wants.
func questionOf(endpoint Endpoint, prompt string) question {
	if endpoint.Chat {
		return question{
			Model: endpoint.Model, Messages: []message{{Role: "user", Content: prompt}}, AddGenerationPrompt: true,
		}
	}
	return question{Model: endpoint.Model, Prompt: &prompt, AddSpecialTokens: true}
}

// stayOnHost follows redirects that repeat the question on the same host, as those
// for a missing slash are. The text goes to no one else, and a redirect that turns
// the question into a GET would be answered by something that is no tokenizer.
func stayOnHost(next *http.Request, earlier []*http.Request) error {
	first := earlier[0]
	switch {
	case next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host:
		return errors.New("it redirects to another host")
	case next.Method != http.MethodPost:
		return errors.New("it redirects away from POST")
	case len(earlier) > maxRedirects:
		return errors.New("it redirects too often")
	}
	return nil
}
