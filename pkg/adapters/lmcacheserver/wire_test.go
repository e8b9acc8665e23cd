/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package lmcacheserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/mutation"
)

// recordedKey is the key of the recording.
const recordedKey = "test-model@1@0@abcdef@half"

// recording returns what a server of a release answered.
func recording(t testing.TB, release string) []captures.Exchange {
	t.Helper()
	exchanges, err := captures.LoadExchanges("lmcache/lm-server-" + release + "-raw.json")
	if err != nil {
		t.Fatal(err)
	}
	return exchanges
}

// recorded returns what a server answered.
func recorded(t testing.TB, name string) captures.Exchange {
	t.Helper()
	for _, exchange := range append(recording(t, "0.5.6"), recording(t, "0.3.9")...) {
		if exchange.Name == name {
			return exchange
		}
	}
	t.Fatalf("no exchange %s", name)
	return captures.Exchange{}
}

// TestRequestsAreThoseOfTheRecording holds the encoding to what a real server took.
func TestRequestsAreThoseOfTheRecording(t *testing.T) {
	tests := map[string]request{
		"health":      {command: commandHealth, key: recordedKey},
		"get_missing": {command: commandGet, key: recordedKey},
		"get_present": {command: commandGet, key: recordedKey},
		"put_4096":    {command: commandPut, length: 4096, dims: shape{2, 2, 16, 32}, key: recordedKey},
	}
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := request.encode(), recorded(t, name).Request[:requestSize]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("request (-recorded +ours):\n%s", diff)
			}
		})
	}
}

func TestHeadersOfTheRecording(t *testing.T) {
	const format = 1
	tests := map[string]header{
		"health":      {code: codeSuccess, format: format, kind: typeHalf},
		"get_missing": {code: codeFail, format: format, kind: typeHalf},
		"get_present": {code: codeSuccess, length: 4096, format: formatToken, kind: typeHalf, dims: shape{2, 2, 16, 32}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := decodeHeader([headerSize]byte(recorded(t, name).Response))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(header{})); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReleasesSpeakAlike holds that the server of the default image is spoken to as
// the recorded one, and that an older one is told from both.
func TestReleasesSpeakAlike(t *testing.T) {
	if diff := cmp.Diff(recording(t, "0.5.6"), recording(t, "0.4.7")); diff != "" {
		t.Errorf("releases differ (-0.5.6 +0.4.7):\n%s", diff)
	}
	for _, exchange := range recording(t, "0.3.9") {
		if exchange.Name == "health" && (len(exchange.Response) > 0 || !exchange.Closed) {
			t.Error("0.3.9 understands keys of its successors")
		}
	}
	former := request{command: commandHealth, key: "vllm@test-model@1@0@abcdef"}
	if diff := cmp.Diff(recorded(t, "health_former_key").Request, former.encode()); diff != "" {
		t.Errorf("request to 0.3.9 (-recorded +ours):\n%s", diff)
	}
}

// TestKeys holds that keys fit into a request, differ by backend and parse as the
// server parses them.
func TestKeys(t *testing.T) {
	long := probe.Prefix(strings.Repeat("n", 63), strings.Repeat("b", 63))
	for _, prefix := range []string{long, probe.Prefix("models", "cache"), ""} {
		for _, key := range []string{key(prefix), formerKey(prefix)} {
			if len(key) > keySize || strings.Count(key, "@") != 4 {
				t.Errorf("key %q of %d bytes", key, len(key))
			}
		}
	}
	if key("a") == key("b") {
		t.Error("two backends share a key")
	}
}

// FuzzDecodeHeader feeds anything to the reader of replies: a header it takes must
// be one that a server can mean.
func FuzzDecodeHeader(f *testing.F) {
	corpus := mutation.New(f, 20000)
	for _, name := range []string{"health", "get_missing", "get_present"} {
		corpus.Add(recorded(f, name).Response[:headerSize])
	}
	corpus.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < headerSize {
			return
		}
		got, err := decodeHeader([headerSize]byte(raw))
		if err != nil {
			return
		}
		if (got.code != codeSuccess && got.code != codeFail) || got.length < 0 {
			t.Fatalf("%v is taken for a header", got)
		}
	})
}
