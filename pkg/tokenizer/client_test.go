/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tokenizer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/tokenizer"
)

// patience ends a test that would otherwise wait for ever.
const patience = 10 * time.Second

// clientOf returns a client with one endpoint for the model "llama", at a server
// that a handler makes.
func clientOf(t *testing.T, suffix string, handler http.HandlerFunc) *tokenizer.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	endpoint, err := tokenizer.ParseEndpoint("llama=" + server.URL + suffix)
	if err != nil {
		t.Fatal(err)
	}
	client, err := tokenizer.New([]tokenizer.Endpoint{endpoint})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// TestTokenizeAsks holds the questions to what the endpoints of the engines read.
func TestTokenizeAsks(t *testing.T) {
	cases := map[string]struct{ suffix, prompt, path, want string }{
		"prompt": {"", "say <hi> & ü", "/tokenize", `{"model":"llama","prompt":"say <hi> & ü","add_special_tokens":true}`},
		"empty":  {"", "", "/tokenize", `{"model":"llama","prompt":"","add_special_tokens":true}`},
		"path":   {"/v1/tokenize", "hi", "/v1/tokenize", `{"model":"llama","prompt":"hi","add_special_tokens":true}`},
		"chat": {
			"#chat", "hi", "/tokenize",
			`{"model":"llama","messages":[{"role":"user","content":"hi"}],"add_generation_prompt":true,"add_special_tokens":false}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			client := clientOf(t, tc.suffix, func(w http.ResponseWriter, r *http.Request) {
				var got, want any
				body, err := io.ReadAll(r.Body)
				if err == nil {
					err = json.Unmarshal(body, &got)
				}
				if err != nil {
					t.Errorf("the question cannot be read: %v", err)
				}
				if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("question (-want +got):\n%s", diff)
				}
				if r.Method != http.MethodPost || r.URL.Path != tc.path || r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
				}
				fmt.Fprint(w, `{"count":2,"max_model_len":4096,"tokens":[1,2],"token_strs":null}`)
			})
			got, err := client.Tokenize(t.Context(), "llama", tc.prompt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]uint32{1, 2}, got); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTokenizeRefuses holds what is answered without asking.
func TestTokenizeRefuses(t *testing.T) {
	client := clientOf(t, "", func(http.ResponseWriter, *http.Request) { t.Error("the tokenizer was asked") })
	cases := map[string]struct {
		model, prompt string
		want          error
	}{
		"other model": {"qwen", "hi", tokenizer.ErrNoTokenizer},
		"no model":    {"", "hi", tokenizer.ErrNoTokenizer},
		"too long":    {"llama", strings.Repeat("x", tokenizer.MaxPromptBytes+1), tokenizer.ErrPrompt},
		"not UTF-8":   {"llama", "a\xff", tokenizer.ErrPrompt},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := client.Tokenize(t.Context(), tc.model, tc.prompt); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

// TestHostileAnswers holds that a tokenizer that misbehaves costs an error.
func TestHostileAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the text was sent to another host")
	}))
	t.Cleanup(elsewhere.Close)
	cases := map[string]struct {
		answer http.HandlerFunc
		err    string
	}{
		"not found": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a secret", http.StatusNotFound) }, "status 404"},
		"broken": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "a secret", http.StatusInternalServerError)
		}, "status 500"},
		"no content": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "status 204"},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>a secret") }, "not JSON"},
		"hangs up":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, `{"tokens":[`)
		}, "read the answer"},
		"out of range": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"tokens":[99999999999]}`) }, "token 0"},
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"tokens":[`)
			for line := strings.Repeat("1,", 1<<15); ; {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		}, "longer than"},
		"huge header": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<17)) }, "header"},
		"redirect to another host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/tokenize", http.StatusTemporaryRedirect)
		}, "redirects to another host"},
		"redirect to another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+r.Host+"/tokenize", http.StatusPermanentRedirect)
		}, "redirects to another host"},
		"redirect to a GET": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }, "away from POST"},
		"redirect to itself": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		}, "redirects too often"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			client := clientOf(t, "", tc.answer)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			ids, err := client.Tokenize(ctx, "llama", "hi")
			if err == nil || !strings.Contains(err.Error(), tc.err) || !strings.Contains(err.Error(), `model "llama"`) {
				t.Errorf("ids %v, error %v, want one that says %q", ids, err, tc.err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats the answer: %v", err)
			}
		})
	}
}

func TestRedirectOnTheSameHost(t *testing.T) {
	client := clientOf(t, "/tokenize/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/tokenize" {
			http.Redirect(w, r, "/tokenize", http.StatusTemporaryRedirect)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.Contains(string(body), `"prompt":"hi"`) {
			t.Errorf("after the redirect the question is %s, %v", body, err)
		}
		fmt.Fprint(w, `{"tokens":[5]}`)
	})
	if ids, err := client.Tokenize(t.Context(), "llama", "hi"); err != nil || len(ids) != 1 {
		t.Errorf("ids %v, error %v", ids, err)
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	client, err := tokenizer.New([]tokenizer.Endpoint{{Model: "llama", URL: address}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Tokenize(t.Context(), "llama", "hi"); err == nil {
		t.Error("no error")
	}
}

// TestInFlight holds that a silent tokenizer is waited for by so many callers and
// no more, and that what waits ends with its context.
func TestInFlight(t *testing.T) {
	asked := make(chan struct{}, tokenizer.MaxInFlight)
	client := clientOf(t, "", func(_ http.ResponseWriter, r *http.Request) {
		// The server notices that the caller has left only after it has read
		// the question.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		asked <- struct{}{}
		<-r.Context().Done()
	})
	waiting, leave := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	for range tokenizer.MaxInFlight {
		callers.Go(func() {
			if _, err := client.Tokenize(waiting, "llama", "hi"); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that of the context", err)
			}
		})
	}
	watchdog := time.NewTimer(patience)
	defer watchdog.Stop()
	for range tokenizer.MaxInFlight {
		select {
		case <-asked:
		case <-watchdog.C:
			t.Fatal("not all questions have arrived")
		}
	}
	if _, err := client.Tokenize(t.Context(), "llama", "hi"); !errors.Is(err, tokenizer.ErrBusy) {
		t.Errorf("error %v, want %v", err, tokenizer.ErrBusy)
	}
	leave()
	callers.Wait()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Tokenize(done, "llama", "hi"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the others have left: error %v, want that of the context", err)
	}
}

// TestDeadline holds that a deadline ends the wait for an answer that has begun.
func TestDeadline(t *testing.T) {
	client := clientOf(t, "", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"tokens":[1,`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := client.Tokenize(ctx, "llama", "hi"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the deadline", err)
	}
}
