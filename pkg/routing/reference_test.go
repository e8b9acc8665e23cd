/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestReference looks for every reason and every figure of this package in the
// page that explains them.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/lookuproute.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{
		fmt.Sprintf("`prefillTokensPerSecond` | %d |", DefaultPrefillRate),
		fmt.Sprintf("`t2TokensPerSecond` | %d |", DefaultT2Rate),
		fmt.Sprintf("`t3TokensPerSecond` | %d |", DefaultT3Rate),
		fmt.Sprintf("`waitingRequestTokens` | %d |", DefaultWaitingTokens),
		fmt.Sprintf("`runningRequestDelay` | %s |", DefaultRunningDelay),
		fmt.Sprintf("`statsMaxAge` | %s |", DefaultStatsMaxAge),
		fmt.Sprintf("a factor of %d of", measuredRange),
		fmt.Sprintf("1, or %g when", doubtful),
		fmt.Sprintf("its first %d tokens", headTokens),
		fmt.Sprintf("more than %d ms", affinitySlack),
		fmt.Sprintf("at least %g,", hotHitRate),
		fmt.Sprintf("at most %d hashes", MaxBlocks),
		fmt.Sprintf("at most %d token ids or %d MiB", MaxTokens, MaxTextBytes>>20),
	}
	for _, reason := range Reasons() {
		rows = append(rows, fmt.Sprintf("| `%s` | ", reason))
	}
	for _, row := range rows {
		if !strings.Contains(string(page), row) {
			t.Errorf("the page does not say %q", row)
		}
	}
}
