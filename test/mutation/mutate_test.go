/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mutation

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestMutationsOfEveryType(t *testing.T) {
	corpora := map[string]any{
		"bool": true, "int": 7, "int8": int8(-7), "int32": int32(7), "int64": int64(7), "uint8": uint8(7), "uint32": uint32(7),
		"uint64": uint64(7), "float64": 7.5, "string": "seven", "empty string": "", "bytes": []byte("seven"), "no bytes": []byte{},
	}
	for name, seed := range corpora {
		t.Run(name, func(t *testing.T) {
			distinct := map[string]bool{}
			for _, args := range mutations(seeded(), [][]any{{seed}}, 200) {
				if got, want := reflect.TypeOf(args[0]), reflect.TypeOf(seed); got != want {
					t.Fatalf("a %s became a %s", want, got)
				}
				distinct[file([]reflect.Value{reflect.ValueOf(args[0])})] = true
			}
			want := 100
			if _, isBool := seed.(bool); isBool {
				want = 2
			}
			if len(distinct) < want {
				t.Errorf("%d different values, want %d", len(distinct), want)
			}
		})
	}
}

func TestMutationsRepeatAndLeaveTheCorpus(t *testing.T) {
	corpus := func() [][]any { return [][]any{{[]byte("abcdef"), "x", 1}, {[]byte{}, "", 0}} }
	used := corpus()
	first := mutations(seeded(), used, 500)
	if diff := cmp.Diff(first, mutations(seeded(), used, 500)); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(corpus(), used); diff != "" {
		t.Errorf("the corpus was changed (-before +after):\n%s", diff)
	}
}

// TestMutationsReachFaults looks for what mutation is for: inputs that break the
// assumptions of a careless parser of "one byte of length, text, two bytes of
// count, that many bytes".
func TestMutationsReachFaults(t *testing.T) {
	seed := []byte("\x03abc\x00\x02xy")
	faults := map[string]func(b []byte) bool{
		"no bytes at all":         func(b []byte) bool { return len(b) == 0 },
		"length beyond the end":   func(b []byte) bool { return len(b) > 0 && int(b[0]) >= len(b) },
		"text of no length":       func(b []byte) bool { return len(b) > 1 && b[0] == 0 },
		"count beyond the end":    func(b []byte) bool { return len(b) == 8 && bytes.HasPrefix(b, seed[:4]) && b[4] > 0 },
		"bytes after the end":     func(b []byte) bool { return len(b) > len(seed) && bytes.HasPrefix(b, seed) },
		"a cut inside the text":   func(b []byte) bool { return len(b) > 0 && len(b) < 4 && bytes.HasPrefix(seed, b) },
		"a part that is repeated": func(b []byte) bool { return bytes.Contains(b, []byte("abcabc")) },
		"a byte that is no ASCII": func(b []byte) bool { return len(b) > 3 && b[0] == 3 && b[1] > 127 },
		"a part of another seed":  func(b []byte) bool { return bytes.Contains(b, []byte("oth")) },
	}
	found := map[string]bool{}
	for _, args := range mutations(seeded(), [][]any{{seed}, {[]byte("\x05other\x00\x00")}}, 3000) {
		for name, is := range faults {
			found[name] = found[name] || is(args[0].([]byte))
		}
	}
	for name := range faults {
		if !found[name] {
			t.Errorf("never made: %s", name)
		}
	}
}

func TestEditsStayBounded(t *testing.T) {
	r, b := seeded(), []byte("a")
	for range 100_000 {
		if b = edit(r, b, bytes.Repeat([]byte("b"), 100)); len(b) > maxLength+maxRange {
			t.Fatalf("%d bytes", len(b))
		}
	}
}
