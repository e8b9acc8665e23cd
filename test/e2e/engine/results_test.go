//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result counts answers.
type result struct {
	// equal answers are what the engine said, hits those of them above zero;
	// bounds are lower and called inexact; wrong is everything else.
	equal, hits, bounds, wrong int
}

// results are those after each kind of disturbance.
type results map[string]*result

func (r results) of(kind string) *result {
	if r[kind] == nil {
		r[kind] = &result{}
	}
	return r[kind]
}

func (r results) total() result {
	var sum result
	for _, one := range r {
		sum.equal, sum.hits, sum.bounds, sum.wrong = sum.equal+one.equal, sum.hits+one.hits, sum.bounds+one.bounds, sum.wrong+one.wrong
	}
	return sum
}

// String returns a table.
func (r results) String() string {
	var out strings.Builder
	row := func(kind string, one result) {
		fmt.Fprintf(&out, "%-20s %7d %7d %7d %7d %7d\n", kind, one.equal+one.bounds+one.wrong, one.equal, one.hits, one.bounds, one.wrong)
	}
	fmt.Fprintf(&out, "%-20s %7s %7s %7s %7s %7s\n", "after", "asked", "equal", "> 0", "bounds", "wrong")
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		row(kind, *r[kind])
	}
	row("in all", r.total())
	return out.String()
}
