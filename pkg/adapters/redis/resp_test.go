/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/mutation"
)

func TestReadReply(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want reply
		err  error
	}{
		"status":               {raw: "+OK\r\n", want: reply{kind: '+', text: "OK"}},
		"error":                {raw: "-OOM no\r\n", want: reply{kind: '-', text: "OOM no"}},
		"number":               {raw: ":-1\r\n", want: reply{kind: ':', number: -1}},
		"value":                {raw: "$4\r\na\r\nb\r\n", want: reply{kind: '$', text: "a\r\nb"}},
		"empty value":          {raw: "$0\r\n\r\n", want: reply{kind: '$'}},
		"no value":             {raw: "$-1\r\n", want: reply{kind: '$', null: true}},
		"nothing":              {raw: "", err: io.EOF},
		"half a line":          {raw: "+O", err: errNotRESP},
		"half a value":         {raw: "$4\r\nab", err: io.ErrUnexpectedEOF},
		"value that goes on":   {raw: "$1\r\nabcd", err: errNotRESP},
		"no number":            {raw: ":one\r\n", err: errNotRESP},
		"negative length":      {raw: "$-2\r\n", err: errNotRESP},
		"length beyond bounds": {raw: "$1048577\r\n", err: errNotRESP},
		"length beyond words":  {raw: "$99999999999999999999\r\n", err: errNotRESP},
		"endless line":         {raw: "+" + strings.Repeat("a", 8<<10), err: errNotRESP},
		"list":                 {raw: "*1\r\n", err: errNotRESP},
		"HTTP":                 {raw: "HTTP/1.1 200 OK\r\n\r\n", err: errNotRESP},
		"TLS":                  {raw: "\x15\x03\x03\x00\x02\x02\x28", err: errNotRESP},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readReply(bufio.NewReader(strings.NewReader(test.raw)))
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCommandsAreThoseOfTheRecording holds the encoding to what a real Redis took.
func TestCommandsAreThoseOfTheRecording(t *testing.T) {
	tests := map[string][]string{
		"auth/auth_right":     {"AUTH", password},
		"noauth/set_ex":       {"SET", "ttl", "x", "EX", "100"},
		"noauth/get_missing":  {"GET", "nope"},
		"noauth/set_empty":    {"SET", "e", ""},
		"auth/reader_get_ok":  {"GET", "kv:1"},
		"noauth/del_two":      {"DEL", "bin", "nope"},
		"noauth/set_binary":   {"SET", "bin", "\x00\xff\r\n$5\r\n\xc3("},
		"oom/del_during_oom":  {"DEL", "k0", "k1", "k2"},
		"loading/ping_loaded": {"PING"},
	}
	for name, parts := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(string(recorded(t, name).Request), string(command(parts...))); diff != "" {
				t.Errorf("command (-recorded +ours):\n%s", diff)
			}
		})
	}
}

// FuzzReadReply feeds anything to the reader of replies. It must stay within its
// bounds, and what it takes for a reply must be written as it was read.
func FuzzReadReply(f *testing.F) {
	corpus := mutation.New(f, 20000)
	for _, file := range []string{"auth", "loading", "misc", "noauth", "oom"} {
		exchanges, err := captures.LoadExchanges("redis/redis-7.0.15-" + file + ".json")
		if err != nil {
			f.Fatal(err)
		}
		for _, exchange := range exchanges {
			corpus.Add(exchange.Response)
		}
	}
	corpus.Fuzz(func(t *testing.T, raw []byte) {
		in := bufio.NewReader(bytes.NewReader(raw))
		got, err := readReply(in)
		if err != nil {
			return
		}
		if len(got.text) > len(raw) || len(got.text) > maxBulk {
			t.Fatalf("%d bytes of text out of %d", len(got.text), len(raw))
		}
		if got.kind != ':' && !got.null && !bytes.Contains(raw, []byte(got.text)) {
			t.Fatalf("text %q is not in %q", got.text, raw)
		}
	})
}
