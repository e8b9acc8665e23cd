/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"context"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
)

// Probe checks a store.
func Probe(_ context.Context, target probe.Target) probe.Result {
	return probe.Unclear("%s was not checked", target.Address)
}
