/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command demo shows the loop of inference-cache on one machine: engines publish
// KV events, subscribers report them, the API server indexes them, and every
// prompt is looked up before the engine serves it, so that what the index says
// can be compared with what the engine then reused.
//
// The engines are recordings of real ones, played on real sockets in step with
// the requests that caused them, or, with -engine=sim, simulated ones under an
// endless load. It needs nothing but Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The values of -engine.
const (
	engineRecorded  = "recorded"
	engineSimulated = "sim"
)

// config is what the flags say.
type config struct {
	engine string
	check  bool
	limit  time.Duration
	pace   time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := parseFlags(os.Args[1:])
	if err == nil {
		err = run(ctx, cfg, os.Stdout)
	}
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func parseFlags(args []string) (config, error) {
	var cfg config
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.StringVar(&cfg.engine, "engine", engineRecorded, "recorded: play recorded engines; sim: run simulated ones until Ctrl-C")
	flags.BoolVar(&cfg.check, "check", false, "end after the comparison, with status 1 unless every answer is right")
	flags.DurationVar(&cfg.limit, "limit", 5*time.Minute, "with -check: how long it may take, without the build")
	flags.DurationVar(&cfg.pace, "pace", 60*time.Millisecond, "least time between two requests to one engine; without effect with -check")
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if cfg.engine != engineRecorded && cfg.engine != engineSimulated {
		return cfg, fmt.Errorf("-engine=%s: want %s or %s", cfg.engine, engineRecorded, engineSimulated)
	}
	if cfg.check {
		cfg.pace = 0
	}
	return cfg, nil
}

// run is the demo. It ends everything that it has started.
func run(ctx context.Context, cfg config, out io.Writer) (err error) {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if err := build(ctx, root, out); err != nil {
		return err
	}
	if cfg.check {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.limit)
		defer cancel()
	}
	s, err := newStage(ctx, cfg, root, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(err == nil)) }()
	if cfg.engine == engineSimulated {
		return s.simulated()
	}
	return s.recorded()
}
