/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance_test

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/test/conformance"
)

// TestConformance holds a standalone server against the rules. test/e2e/cluster
// does the same with one that is behind a cluster.
func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Server{Config: apiservertest.Start(t).Config})
}
