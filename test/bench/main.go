/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command bench measures what the index promises and prints one table: each
// figure, the ratio that it stands for, the target and whether it was reached. Two
// indexes of the usual kinds (package baseline) run beside ours, and a calibration
// loop tells how far they are from the projects that they stand for.
//
// Figures are CPU time, so that they hold on a busy machine, except where a line
// says otherwise. No figure decides over the exit code: only what does not work or
// answers wrongly is an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// bench is one run of the program.
type bench struct {
	sizes
	table

	// resident is the index that most sections measure; see bench.fleet.
	resident *fleet
	// residentBytes is what an entry of it takes.
	residentBytes float64
	// scores is the sum of the scores of all lookups.
	scores int64
}

// section measures some lines of the table.
type section struct {
	name    string
	measure func(*bench, context.Context) error
}

// sections in the order in which they run. Those that use the resident index come
// one after the other; the last ones have the memory to themselves.
func sections() []section {
	return []section{
		{"lookup", (*bench).lookups},
		{"contention", (*bench).contention},
		{"rpc", (*bench).calls},
		{"ingest", (*bench).ingest},
		{"memory", (*bench).memory},
		{"drop", (*bench).drops},
		{"sharing", (*bench).sharing},
		{"evict", (*bench).evictions},
		{"rebuild", (*bench).rebuild},
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	smoke := flags.Bool("smoke", false, "use small sizes: a check that everything works, whose figures mean nothing")
	only := flags.String("only", "", "comma-separated sections to measure: "+strings.Join(names(sections()), ", "))
	profile := flags.String("cpuprofile", "", "file to write a CPU profile of the run to; times of the process are inexact beside it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(sections(), *only)
	if err != nil {
		return err
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return fmt.Errorf("profile to %s: %w", *profile, err)
		}
		defer pprof.StopCPUProfile()
	}
	b := bench{sizes: fullSizes()}
	if *smoke {
		b.sizes = smokeSizes()
	}
	for _, s := range chosen {
		fmt.Fprintf(out, "measuring %s\n", s.name)
		if err := s.measure(&b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		runtime.GC() // what a section leaves is not for the next one to clear up
	}
	fmt.Fprintln(out)
	return b.print(out)
}

func names(all []section) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// choose returns the sections of a comma-separated list, all for an empty one.
func choose(all []section, list string) ([]section, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	for _, name := range wanted {
		if !slices.Contains(names(all), name) {
			return nil, fmt.Errorf("no section %q; there are %s", name, strings.Join(names(all), ", "))
		}
	}
	return slices.DeleteFunc(all, func(s section) bool { return !slices.Contains(wanted, s.name) }), nil
}
