/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tokenizer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/tokenizer"
	"inferencecache.io/inference-cache/test/mutation"
)

func TestParseEndpoint(t *testing.T) {
	cases := map[string]struct {
		value string
		want  tokenizer.Endpoint
		err   string
	}{
		"host only":          {value: "llama=http://engine:8000", want: tokenizer.Endpoint{Model: "llama", URL: "http://engine:8000/tokenize"}},
		"host and slash":     {value: "llama=http://engine:8000/", want: tokenizer.Endpoint{Model: "llama", URL: "http://engine:8000/tokenize"}},
		"path":               {value: "llama=https://tok.example/v1/tokenize", want: tokenizer.Endpoint{Model: "llama", URL: "https://tok.example/v1/tokenize"}},
		"query":              {value: "llama=http://tok/t?kind=a=b", want: tokenizer.Endpoint{Model: "llama", URL: "http://tok/t?kind=a=b"}},
		"model with a slash": {value: "meta-llama/Llama-3.1-8B=http://e", want: tokenizer.Endpoint{Model: "meta-llama/Llama-3.1-8B", URL: "http://e/tokenize"}},
		"chat":               {value: "llama=http://engine:8000#chat", want: tokenizer.Endpoint{Model: "llama", URL: "http://engine:8000/tokenize", Chat: true}},
		"IPv6":               {value: "llama=http://[::1]:8000", want: tokenizer.Endpoint{Model: "llama", URL: "http://[::1]:8000/tokenize"}},

		"empty":            {value: "", err: "not of the form model=url"},
		"no model":         {value: "=http://engine", err: "names no model"},
		"no separator":     {value: "http://engine", err: "not of the form model=url"},
		"no URL":           {value: "llama=", err: "has to start with http:// or https://"},
		"no scheme":        {value: "llama=engine:8000", err: "has to start with http:// or https://"},
		"other scheme":     {value: "llama=ftp://engine", err: "has to start with http:// or https://"},
		"no host":          {value: "llama=http:///tokenize", err: "names no host"},
		"port only":        {value: "llama=http://:8000", err: "names no host"},
		"not a URL":        {value: "llama=http://engine:port", err: "invalid port"},
		"credentials":      {value: "llama=http://me:secret@engine", err: "must not hold credentials"},
		"unknown fragment": {value: "llama=http://engine#talk", err: "may end in #chat, not in #talk"},
		"secret in a bad URL": {
			value: "llama=http://me:secret@engine:port", err: `tokenizer of model "llama"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tokenizer.ParseEndpoint(tc.value)
			checkError(t, err, tc.err)
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats a password: %v", err)
			}
			if tc.err == "" {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("endpoint (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestParseEndpoints(t *testing.T) {
	cases := map[string]struct {
		values []string
		want   []tokenizer.Endpoint
		errs   []string
	}{
		"none": {},
		"two": {
			values: []string{"a=http://a", "b=http://b#chat"},
			want:   []tokenizer.Endpoint{{Model: "a", URL: "http://a/tokenize"}, {Model: "b", URL: "http://b/tokenize", Chat: true}},
		},
		"everything wrong": {
			values: []string{"a", "b=ftp://b", "c=http://c", "c=http://d"},
			errs:   []string{`"a" is not of the form`, `model "b"`, `model "c" has two tokenizers`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tokenizer.ParseEndpoints(tc.values)
			if (err != nil) != (len(tc.errs) > 0) {
				t.Fatalf("error %v, want %q", err, tc.errs)
			}
			for _, want := range tc.errs {
				checkError(t, err, want)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("endpoints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	cases := map[string]struct {
		endpoints []tokenizer.Endpoint
		err       string
	}{
		"no model":     {[]tokenizer.Endpoint{{URL: "http://a/"}}, "names no model"},
		"no scheme":    {[]tokenizer.Endpoint{{Model: "a", URL: "a/tokenize"}}, "has to start with"},
		"not a URL":    {[]tokenizer.Endpoint{{Model: "a", URL: "http://a b"}}, "invalid character"},
		"a fragment":   {[]tokenizer.Endpoint{{Model: "a", URL: "http://a/#chat"}}, "has a fragment"},
		"the same one": {[]tokenizer.Endpoint{{Model: "a", URL: "http://a/"}, {Model: "a", URL: "http://a/"}}, "has two tokenizers"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tokenizer.New(tc.endpoints)
			checkError(t, err, tc.err)
		})
	}
}

// FuzzParseEndpoint holds that what is taken can be asked, and that a value that
// is written again means the same.
func FuzzParseEndpoint(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, seed := range []string{"llama=http://engine:8000", "a/b=https://h/p?q=1#chat", "=", "a=http://u:p@h", "a=http://[::1]:1/%2f"} {
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t *testing.T, value string) {
		endpoint, err := tokenizer.ParseEndpoint(value)
		if err != nil {
			return
		}
		if _, err := tokenizer.New([]tokenizer.Endpoint{endpoint}); err != nil {
			t.Fatalf("%q is taken as %+v, which is refused: %v", value, endpoint, err)
		}
		again := endpoint.Model + "=" + endpoint.URL
		if endpoint.Chat {
			again += "#chat"
		}
		if second, err := tokenizer.ParseEndpoint(again); err != nil || second != endpoint {
			t.Fatalf("%q is %+v, but %q is %+v (%v)", value, endpoint, again, second, err)
		}
	})
}

// checkError holds that an error says something, or that there is none.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Fatalf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Fatalf("error %v, want one that says %q", err, want)
	}
}
