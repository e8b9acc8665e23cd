/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command manager runs the controllers of inference-cache in a cluster: it
// provisions the stores of CacheBackends and says what of them is true.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"inferencecache.io/inference-cache/cmd/manager/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := app.New().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "inference-cache-manager:", err)
		os.Exit(1)
	}
}
