/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mutation

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// Corpus holds the seeds of one fuzz target. Its methods take the place of those
// of [testing.F] and, like them, belong to one goroutine.
type Corpus struct {
	f      *testing.F
	inputs int
	// seeds have an element for each argument.
	seeds [][]any
}

// New returns a corpus without seeds. A run without -fuzz calls the target inputs
// times on mutations, after its seeds: thousands if a call takes microseconds,
// fewer if it takes milliseconds.
func New(f *testing.F, inputs int) *Corpus {
	return &Corpus{f: f, inputs: inputs}
}

// Add adds a seed, as [testing.F.Add] does. Arguments are bools, numbers,
// strings and byte slices.
func (c *Corpus) Add(args ...any) {
	c.f.Helper()
	for _, arg := range args {
		if !mutable(arg) {
			c.f.Fatalf("an argument of type %T cannot be mutated", arg)
		}
	}
	c.seeds = append(c.seeds, args)
	c.f.Add(args...)
}

// Fuzz runs the target, as [testing.F.Fuzz] does. It must be the last call.
func (c *Corpus) Fuzz(target any) {
	c.f.Helper()
	if fuzzing() {
		c.f.Fuzz(target)
		return
	}
	if len(c.seeds) == 0 {
		c.f.Fatal("there is no seed to mutate")
	}
	name := fnv.New64a()
	_, _ = name.Write([]byte(c.f.Name())) // a hash takes everything
	for _, args := range mutations(rand.New(rand.NewPCG(name.Sum64(), 0)), c.seeds, c.inputs) {
		c.f.Add(args...)
	}
	c.f.Fuzz(logged(target))
}

// fuzzing tells whether go test was called with -fuzz.
func fuzzing() bool {
	set := flag.Lookup("test.fuzz")
	return set != nil && set.Value.String() != ""
}

// logged returns a target that logs inputs with which it fails.
func logged(target any) any {
	call := reflect.ValueOf(target)
	return reflect.MakeFunc(call.Type(), func(args []reflect.Value) []reflect.Value {
		t := args[0].Interface().(*testing.T)
		t.Cleanup(func() {
			if t.Failed() {
				t.Log("this input failed; kept as a file under testdata/fuzz it stays a seed:\n" + file(args[1:]))
			}
		})
		return call.Call(args)
	}).Interface()
}

// file writes arguments in the form in which Go keeps them in files.
func file(args []reflect.Value) string {
	var out strings.Builder
	out.WriteString("go test fuzz v1\n")
	for _, arg := range args {
		switch arg.Kind() {
		case reflect.Slice:
			fmt.Fprintf(&out, "[]byte(%q)\n", arg.Bytes())
		case reflect.String:
			fmt.Fprintf(&out, "string(%q)\n", arg.String())
		default:
			fmt.Fprintf(&out, "%s(%v)\n", arg.Type(), arg.Interface())
		}
	}
	return out.String()
}
