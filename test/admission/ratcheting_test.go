/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestUpdatesRatchet holds for every rule that an object which was stored
// although it breaks the rule can be edited otherwise, and that an edit is
// refused for what it breaks itself and for nothing else.
func TestUpdatesRatchet(t *testing.T) {
	forEachRule(t, func(t *testing.T, table table, rule rule) {
		kind := kinds[table.Kind]
		before := append([]manifest{rule.Accepted[0]}, rule.Refused...)
		for i, from := range before {
			old := stored(table.object(t, from))
			if errs := kind.update(labelled(old), old); len(errs) > 0 {
				t.Errorf("a label on object %d is refused: %v", i, errs.ToAggregate())
			}
			for j, to := range rule.Refused {
				updated := stored(table.object(t, to))
				// The name is what the stored object is known by.
				updated.(metav1.Object).SetName(old.(metav1.Object).GetName())
				known := texts(kind.validate(old))
				var want []string
				for _, text := range texts(kind.validate(updated)) {
					if !slices.Contains(known, text) {
						want = append(want, text)
					}
				}
				if diff := cmp.Diff(want, texts(kind.update(updated, old))); diff != "" {
					t.Errorf("update of object %d to refused[%d] (-want +got):\n%s", i, j, diff)
				}
			}
		}
	})
}

// TestStatusOfBrokenObjects holds for every rule that a controller can report on
// an object that breaks it.
func TestStatusOfBrokenObjects(t *testing.T) {
	forEachRule(t, func(t *testing.T, table table, rule rule) {
		for i, manifest := range rule.Refused {
			old := stored(table.object(t, manifest))
			if errs := kinds[table.Kind].updateStatus(old.DeepCopyObject(), old); len(errs) > 0 {
				t.Errorf("the status of refused[%d] is refused: %v", i, errs.ToAggregate())
			}
		}
	})
}

func labelled(object runtime.Object) runtime.Object {
	object = object.DeepCopyObject()
	object.(metav1.Object).SetLabels(map[string]string{"edited": "yes"})
	return object
}
