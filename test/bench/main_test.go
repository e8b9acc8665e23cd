/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSmoke runs everything in small. What the figures are does not matter; what
// answers wrongly is an error.
func TestSmoke(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-smoke"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	_, printed, _ := strings.Cut(out.String(), "FIGURE")
	answered := 0
	for row := range strings.Lines(printed) {
		if row = strings.TrimSpace(row); strings.HasSuffix(row, " yes") || strings.HasSuffix(row, " no") {
			answered++
		}
	}
	// The figures that have a target.
	const want = 18
	if answered != want {
		t.Errorf("%d figures with a target, want %d\n%s", answered, want, printed)
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		list string
		want []string
		err  bool
	}{
		"all":      {want: names(sections())},
		"in order": {list: "rebuild,lookup", want: []string{"lookup", "rebuild"}},
		"unknown":  {list: "lookup,nothing", err: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := choose(sections(), tc.list)
			if (err != nil) != tc.err {
				t.Fatalf("error %v, want one: %t", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Errorf("sections (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	var tab table
	tab.atLeast("fast", "1 µs; 6 ms", times, 6000, 5000)
	tab.atMost("small", "", bytesEach, 30, 24)
	tab.within("near", "", 1.9, 2)
	tab.within("far", "", 0.4, 2)
	tab.tell("note", "as is")
	want := []line{
		{"fast", "1 µs; 6 ms", "6000×", "≥ 5000×", "yes"},
		{"small", "", "30.0 B", "≤ 24.0 B", "no"},
		{"near", "", "1.90", "0.5 to 2", "yes"},
		{"far", "", "0.40", "0.5 to 2", "no"},
		{"note", "as is", "", "", ""},
	}
	if diff := cmp.Diff(want, tab.lines, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	var out bytes.Buffer
	if err := tab.print(&out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got != len(want)+1 {
		t.Errorf("%d rows, want %d:\n%s", got, len(want)+1, &out)
	}
}

func TestStatistics(t *testing.T) {
	values := []time.Duration{5, 1, 4, 2, 3}
	if got := samples(values).median(); got != 3 {
		t.Errorf("median %d, want 3", got)
	}
	if diff := cmp.Diff([]time.Duration{5, 1, 4, 2, 3}, values); diff != "" {
		t.Errorf("the median of samples reordered them:\n%s", diff)
	}
	if got := percentile(values, 99); got != 5 {
		t.Errorf("99th percentile %d, want 5", got)
	}
	if got := (samples{8, 6, 9}).over(samples{4, 2, 9}); got != 2 {
		t.Errorf("median ratio %g, want 2", got)
	}
}
