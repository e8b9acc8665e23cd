/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/mutation"
)

func TestCountSegments(t *testing.T) {
	tests := map[string]struct {
		body string
		want int
		bad  bool
	}{
		"none":         {"", 0, false},
		"one":          {"10.0.0.1:17812\n", 1, false},
		"three":        {"10.0.0.1:1\n[fd00::1]:2\nnode-3.example:3", 3, false},
		"blank lines":  {"\r\n10.0.0.1:1\r\n\n", 1, false},
		"a document":   {"{\"segments\": []}\n", 0, true},
		"a sentence":   {"Failed to query segment", 0, true},
		"not text":     {"\xff\xfe\n", 0, true},
		"endless name": {strings.Repeat("a", 513), 0, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := countSegments([]byte(test.body))
			if got != test.want || (err != nil) != test.bad {
				t.Errorf("%d, %v; want %d and an error: %t", got, err, test.want, test.bad)
			}
		})
	}
}

func TestParseCounts(t *testing.T) {
	number := func(value float64) count { return count{value: value, known: true} }
	tests := map[string]struct {
		body string
		want counts
	}{
		"recorded, no client":  {string(recorded(t, "empty_metrics").Response), counts{clients: number(0), capacity: number(0)}},
		"recorded, one client": {string(recorded(t, "client_no_keys_metrics").Response), counts{clients: number(1), capacity: number(64 << 20)}},
		"nothing":              {"", counts{}},
		"other metrics":        {"master_active_clients_total 3\n# TYPE master_active_clients gauge\n", counts{}},
		"no numbers":           {"master_active_clients\nmaster_total_capacity_bytes x\n", counts{}},
		"negative, or none":    {"master_active_clients -1\nmaster_total_capacity_bytes NaN\n", counts{}},
		"with a time":          {"master_active_clients 2 1700000000000\n", counts{clients: number(2)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseCounts([]byte(test.body)), cmp.AllowUnexported(counts{}, count{})); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzAnswers feeds anything to the readers of answers: what they count must have
// been there.
func FuzzAnswers(f *testing.F) {
	corpus := mutation.New(f, 2000)
	for _, name := range []string{"three_keys_get_all_segments", "client_no_keys_metrics", "empty_metrics_summary", "not_found"} {
		corpus.Add(recorded(f, name).Response)
	}
	corpus.Fuzz(func(t *testing.T, body []byte) {
		if n, err := countSegments(body); err == nil && n > bytes.Count(body, []byte("\n"))+1 {
			t.Fatalf("%d segments on %d lines", n, bytes.Count(body, []byte("\n"))+1)
		}
		for metric, got := range map[string]count{metricClients: parseCounts(body).clients, metricCapacity: parseCounts(body).capacity} {
			if got.known && (!bytes.Contains(body, []byte(metric)) || got.value < 0) {
				t.Fatalf("%s is %v", metric, got)
			}
		}
	})
}
