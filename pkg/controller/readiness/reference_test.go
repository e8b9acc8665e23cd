/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"os"
	"strings"
	"testing"
)

// TestReference looks for every condition, every reason and every Event in the page
// that explains them.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for condition, list := range reasons {
		conditionType, _, _ := strings.Cut(condition, "=")
		names = append(append(names, conditionType), list...)
	}
	for event := range eventReasons {
		_, reason, _ := strings.Cut(event, "/")
		names = append(names, reason)
	}
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not explain %s", name)
		}
	}
}
