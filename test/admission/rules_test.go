/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRules holds each rule against its manifests: those that it accepts pass
// whole, those that it refuses are refused for exactly what is written there,
// and in particular at the field that the rule speaks of.
func TestRules(t *testing.T) {
	forEachRule(t, func(t *testing.T, table table, rule rule) {
		if len(rule.Accepted) < 1 || len(rule.Refused) < 2 || rule.Rule == "" {
			t.Errorf("%d accepted and %d refused manifests for %q, want at least 1 and 2", len(rule.Accepted), len(rule.Refused), rule.Rule)
		}
		validate := kinds[table.Kind].validate
		for i, manifest := range rule.Accepted {
			if errs := validate(table.object(t, manifest)); len(errs) > 0 {
				t.Errorf("accepted[%d] is refused: %v", i, errs.ToAggregate())
			}
		}
		for i, manifest := range rule.Refused {
			errs := validate(table.object(t, manifest))
			if diff := cmp.Diff(manifest.Errors, texts(errs)); diff != "" || len(errs) == 0 {
				t.Errorf("errors of refused[%d] (-want +got):\n%s", i, diff)
			}
			spoken := false
			for _, err := range errs {
				spoken = spoken || rule.speaksOf(err.Field)
			}
			if !spoken {
				t.Errorf("refused[%d] is not refused at %s", i, rule.Field)
			}
		}
	})
}

func TestRuleNamesAreUnique(t *testing.T) {
	var names []string
	for _, table := range loadTables(t) {
		for _, rule := range table.Rules {
			if slices.Contains(names, rule.Name) {
				t.Errorf("two rules are called %s", rule.Name)
			}
			names = append(names, rule.Name)
		}
	}
}
