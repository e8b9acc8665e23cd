/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mutation

import (
	"math"
	"reflect"
	"testing"
)

// FuzzInputs counts how often a corpus calls its target.
func FuzzInputs(f *testing.F) {
	const inputs = 50
	corpus := New(f, inputs)
	corpus.Add("a", uint8(1))
	corpus.Add("b", uint8(2))
	calls, mutated := 0, 0
	f.Cleanup(func() {
		if !fuzzing() && (calls != 2+inputs || mutated < inputs/2) {
			f.Errorf("%d calls, %d of them with mutations; want %d and most of them", calls, mutated, 2+inputs)
		}
	})
	corpus.Fuzz(func(_ *testing.T, text string, n uint8) {
		calls++
		if seed := text == "a" && n == 1 || text == "b" && n == 2; !seed {
			mutated++
		}
	})
}

func TestFile(t *testing.T) {
	var args []reflect.Value
	for _, arg := range []any{[]byte("a\xff"), "b\n", int8(-1), uint8(200), true, -0.5, math.Inf(1)} {
		args = append(args, reflect.ValueOf(arg))
	}
	const want = "go test fuzz v1\n[]byte(\"a\\xff\")\nstring(\"b\\n\")\nint8(-1)\nuint8(200)\nbool(true)\nfloat64(-0.5)\nfloat64(+Inf)\n"
	if got := file(args); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
