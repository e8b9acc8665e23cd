/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package table

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// None is what a cell shows when there is no value.
const None = "<none>"

// Name is the column of the object's name, which every table starts with.
func Name[O metav1.Object]() Column[O] {
	return Column[O]{
		Name: "Name", Type: "string", Format: "name",
		Description: "Name of the object, unique within its namespace.",
		Cell:        func(obj O, _ metav1.Time) any { return obj.GetName() },
	}
}

// Age is the column of the time since creation, which tables of stored kinds
// end with before their wide columns.
func Age[O metav1.Object]() Column[O] {
	return Column[O]{
		Name: "Age", Type: "string",
		Description: "Time since the object was created.",
		Cell: func(obj O, now metav1.Time) any {
			created := obj.GetCreationTimestamp()
			return Since(&created, now)
		},
	}
}

// Text returns s, or None for an empty string.
func Text[S ~string](s S) any {
	if s == "" {
		return None
	}
	return string(s)
}

// Join returns the parts with commas between them, or None without parts.
func Join(parts []string) any {
	return Text(strings.Join(parts, ","))
}

// Value returns what p points to, or None for nil.
func Value[T any](p *T) any {
	if p == nil {
		return None
	}
	return *p
}

// Count returns what p points to as an integer cell, or None for nil.
func Count[T ~int32 | ~int64](p *T) any {
	if p == nil {
		return None
	}
	return int64(*p)
}

// Since returns the time between t and now in the short form of kubectl, as
// "5m" or "3d", or None when t is nil or zero.
func Since(t *metav1.Time, now metav1.Time) any {
	if t.IsZero() {
		return None
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// Condition returns the status of the condition of a type, or None.
func Condition(conditions []metav1.Condition, conditionType string) any {
	if condition := meta.FindStatusCondition(conditions, conditionType); condition != nil {
		return Text(condition.Status)
	}
	return None
}

// Reason returns the reason of the condition of a type, or None.
func Reason(conditions []metav1.Condition, conditionType string) any {
	if condition := meta.FindStatusCondition(conditions, conditionType); condition != nil {
		return Text(condition.Reason)
	}
	return None
}
