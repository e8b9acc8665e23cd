/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
)

// answer is one prediction beside what the engine did.
type answer struct {
	prompt, matched, reused int
	exact                   bool
	reason, tier            string
	// why says why the two cannot be compared; empty if they can.
	why string
}

// mark says at a glance how the two compare.
func (a answer) mark() string {
	switch {
	case a.why != "":
		return "not comparable: " + a.why
	case a.matched == a.reused:
		return "="
	case a.matched > a.reused:
		return "TOO HIGH"
	case !a.exact:
		return "lower bound"
	default:
		return "TOO LOW"
	}
}

// score adds up the answers about one engine.
type score struct {
	engine, title                            string
	requests, compared, equal, lower, higher int
	promptTokens, reusedTokens               int
	// bounds counts lower answers that were said to be bounds.
	bounds int
}

func (s *score) add(a answer) {
	s.requests++
	s.promptTokens += a.prompt
	s.reusedTokens += a.reused
	if a.why != "" {
		return
	}
	s.compared++
	switch {
	case a.matched == a.reused:
		s.equal++
	case a.matched > a.reused:
		s.higher++
	default:
		s.lower++
		if !a.exact {
			s.bounds++
		}
	}
}

// wrong is the number of answers that promised too much, or too little without
// saying so.
func (s score) wrong() int {
	return s.higher + s.lower - s.bounds
}

// reusedShare is the part of the prompts that the engine reused, in percent.
func (s score) reusedShare() float64 {
	if s.promptTokens == 0 {
		return 0
	}
	return 100 * float64(s.reusedTokens) / float64(s.promptTokens)
}

// console writes what happens, from several goroutines.
type console struct {
	mu  sync.Mutex
	out io.Writer
}

// row shows one answer.
func (c *console) row(engine string, n, total int, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "%-12s %4d/%-4d %8d %8d %8d   %s\n", engine, n, total, a.prompt, a.matched, a.reused, a.mark())
}

// progress shows how one engine has done so far.
func (c *console) progress(s score) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "%-12s %6d turns %6d equal %4d lower %4d higher %5.0f%% of tokens reused\n",
		s.engine, s.requests, s.equal, s.lower, s.higher, s.reusedShare())
}

// head explains the rows.
func (c *console) head() {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.out, "\n%-12s %9s %8s %8s %8s\n", "ENGINE", "REQUEST", "PROMPT", "WE SAY", "REUSED")
}

// scores shows the result per engine.
func (c *console) scores(scores []score) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.out)
	table := tabwriter.NewWriter(c.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "ENGINE\tWHAT\tREQUESTS\tCOMPARED\tEQUAL\tLOWER\tHIGHER\tREUSED")
	for _, s := range scores {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%.0f%% of tokens\n",
			s.engine, s.title, s.requests, s.compared, s.equal, s.lower, s.higher, s.reusedShare())
	}
	return table.Flush()
}

// step tells what is being done before anything is compared.
func step(out io.Writer, word, format string, args ...any) {
	fmt.Fprintf(out, "%-10s "+format+"\n", append([]any{word}, args...)...)
}
