/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command protobuf turns the .proto sources of the repository into Go stubs.
//
// It needs neither protoc nor the network: the sources are compiled in process
// and handed to the plugins pinned in this module, which are run as any
// protoc-compatible driver runs them. Equal sources give equal bytes, so that a
// check can regenerate and ask git for a difference. Stubs whose source is gone
// are removed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	opts := options{}
	flag.StringVar(&opts.source, "source", "proto", "directory of the .proto sources; imports are resolved against it")
	flag.StringVar(&opts.output, "output", "pkg/generated/proto", "directory that receives the stubs and nothing else")
	flag.StringVar(&opts.plugins, "plugins", "", "directory of protoc-gen-go and protoc-gen-go-grpc")
	flag.Parse()

	if err := generate(ctx, opts); err != nil {
		fmt.Fprintln(os.Stderr, "protobuf:", err)
		os.Exit(1)
	}
}
