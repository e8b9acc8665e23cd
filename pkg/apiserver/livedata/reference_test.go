/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// TestProbeReference looks for every result and every figure of a probe in the page that
// explains them.
func TestProbeReference(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/probe.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{
		"`POST cachebackends/<name>/probe`",
		"the tenant `" + indexserver.ReservedTenant + "`",
		fmt.Sprintf("At most %d probes", indexserver.DefaultProbes),
		fmt.Sprintf("at most %.0f seconds", indexserver.DefaultProbeTimeout.Seconds()),
		fmt.Sprintf("`no answer within %s`", indexserver.DefaultProbeTimeout),
		fmt.Sprintf("`Retry-After` of %d second", probeRetrySeconds),
	}
	for _, stage := range []inferencecache.ProbeStageName{inferencecache.ProbeStageIngest, inferencecache.ProbeStageRouting} {
		wanted = append(wanted, fmt.Sprintf("| `%s` | ", stage))
	}
	for _, result := range []inferencecache.ProbeResult{
		inferencecache.ProbeResultOK, inferencecache.ProbeResultFailed, inferencecache.ProbeResultSkipped, inferencecache.ProbeResultUnknown,
	} {
		wanted = append(wanted, fmt.Sprintf("| `%s` | ", result))
	}
	for _, text := range wanted {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}
