/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// line is one figure of the table.
type line struct {
	// figure names what was measured, measured says what came out, with units.
	figure, measured string
	// ratio, or the figure itself where the target is absolute, as it is shown.
	ratio, target, reached string
}

// table collects the figures of a run.
type table struct{ lines []line }

// unit formats a value and its target alike.
type unit string

// The units of values that have a target. Ratios have none of their own.
const (
	times        unit = "%.0f×"
	fraction     unit = "%.2f"
	microseconds unit = "%.2f µs"
	milliseconds unit = "%.2f ms"
	seconds      unit = "%.2f s"
	bytesEach    unit = "%.1f B"
	count        unit = "%.3f"
)

func (u unit) format(v float64) string { return fmt.Sprintf(string(u), v) }

// atLeast adds a figure that is to be large.
func (t *table) atLeast(figure, measured string, u unit, value, target float64) {
	t.add(figure, measured, u, value, "≥ ", target, value >= target)
}

// atMost adds a figure that is to be small.
func (t *table) atMost(figure, measured string, u unit, value, target float64) {
	t.add(figure, measured, u, value, "≤ ", target, value <= target)
}

// within adds a ratio that is to be near to 1, by a factor.
func (t *table) within(figure, measured string, value, factor float64) {
	t.lines = append(t.lines, line{figure, measured, fraction.format(value), fmt.Sprintf("%.3g to %.3g", 1/factor, factor), yes(value <= factor && value >= 1/factor)})
}

func (t *table) add(figure, measured string, u unit, value float64, sign string, target float64, reached bool) {
	t.lines = append(t.lines, line{figure, measured, u.format(value), sign + u.format(target), yes(reached)})
}

func yes(reached bool) string {
	if reached {
		return "yes"
	}
	return "no"
}

// tell adds what explains other figures and has no target.
func (t *table) tell(figure, measured string) {
	t.lines = append(t.lines, line{figure, measured, "", "", ""})
}

// print writes the table.
func (t *table) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tMEASURED\tRATIO\tTARGET\tREACHED")
	for _, l := range t.lines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.figure, l.measured, l.ratio, l.target, l.reached)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// short formats a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// millions writes a number of entries.
func millions(n int) string {
	if n < 1_000_000 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.3gM", float64(n)/1e6)
}
