/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command kvevent-subscriber runs beside an inference engine and tells the index
// what the engine's cache holds.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"inferencecache.io/inference-cache/cmd/kvevent-subscriber/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := app.New().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kvevent-subscriber:", err)
		os.Exit(1)
	}
}
