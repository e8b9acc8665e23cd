/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Names of the metrics that the master always has.
const (
	metricClients  = "master_active_clients"
	metricCapacity = "master_total_capacity_bytes"
)

// maxSegmentName bounds the name of a segment, which is a host and a port.
const maxSegmentName = 512

// counts is what the metrics of a master say of its engines.
type counts struct {
	clients, capacity count
}

// count is a number, if it is known.
type count struct {
	value float64
	known bool
}

// countSegments counts the names in a list of segments, one a line. A page that is
// something else, such as a document, is an error: to count its lines would make a
// store out of it.
func countSegments(body []byte) (int, error) {
	n := 0
	for line := range bytes.Lines(body) {
		name := bytes.TrimSpace(line)
		switch {
		case len(name) == 0:
			continue
		case len(name) > maxSegmentName || !utf8.Valid(name) || bytes.ContainsAny(name, " \t<>{}\"\x00"):
			return 0, fmt.Errorf("line %d is no name of a segment", n+1)
		}
		n++
	}
	return n, nil
}

// parseCounts reads the metrics that it knows from a page of them. What is not
// there, or is no number, is not known.
func parseCounts(body []byte) counts {
	var found counts
	for line := range bytes.Lines(body) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		var into *count
		switch string(fields[0]) {
		case metricClients:
			into = &found.clients
		case metricCapacity:
			into = &found.capacity
		default:
			continue
		}
		if value, err := strconv.ParseFloat(string(fields[1]), 64); err == nil && value >= 0 {
			*into = count{value: value, known: true}
		}
	}
	return found
}
