/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestReasonsAreDocumented holds the table of docs/reference/wiring.md.
func TestReasonsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "wiring.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllSubmatch(page, -1) {
		if reason := string(row[1]); reason != "inject-skipped" {
			documented = append(documented, reason)
		}
	}
	want := append([]string{v1alpha1.InjectSkippedByAnnotation}, wiring.Reasons()...)
	slices.Sort(documented)
	slices.Sort(want)
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("reasons (-code +page):\n%s", diff)
	}
}
