/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command inference-cache-apiserver serves the API group inferencecache.io: as an
// aggregated API server in a cluster or, with --standalone, by itself.
package main

import (
	"os"

	"k8s.io/component-base/cli"

	"inferencecache.io/inference-cache/cmd/apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.New().Command))
}
