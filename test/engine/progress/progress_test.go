/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package progress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is what a subscriber shows: engine sequence, restarts, waiting, delta,
// acknowledged.
type page [5]int

func (p page) String() string {
	names := []string{engineSequence, engineRestarts, changesWaiting, deltaSequence, acknowledged}
	text := "# HELP something else\n"
	for i, name := range names {
		text += fmt.Sprintf("%s{rank=\"0\"} %d\n", name, p[i])
	}
	return text
}

// TestAwait shows one page after the other, the last one for ever.
func TestAwait(t *testing.T) {
	tests := map[string]struct {
		to    Point
		pages []page
		reads int64
	}{
		"known at once":           {Point{Sequence: 4}, []page{{4, 0, 0, 2, 2}}, 2},
		"message still to come":   {Point{Sequence: 4}, []page{{-1, 0, 0, 0, 0}, {3, 0, 0, 2, 2}, {4, 0, 0, 3, 3}}, 4},
		"changes wait":            {Point{Sequence: 4}, []page{{4, 0, 1, 2, 2}, {4, 0, 1, 2, 2}, {4, 0, 0, 3, 3}}, 3},
		"not acknowledged":        {Point{Sequence: 4}, []page{{4, 0, 0, 3, 2}, {4, 0, 0, 3, 2}, {4, 0, 0, 3, 3}}, 3},
		"restart not noticed":     {Point{Sequence: 0, Restarts: 1}, []page{{9, 0, 0, 3, 3}, {0, 1, 0, 1, 1}}, 3},
		"nothing sent":            {Point{Sequence: -1}, []page{{-1, 0, 0, 0, 0}}, 2},
		"reading before it moved": {Point{Sequence: 4}, []page{{3, 0, 0, 2, 2}, {4, 0, 0, 2, 2}, {4, 0, 0, 3, 2}, {4, 0, 0, 3, 3}}, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var reads atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				n := reads.Add(1)
				_, _ = fmt.Fprint(w, test.pages[min(int(n), len(test.pages))-1])
			}))
			t.Cleanup(web.Close)
			if err := Await(t.Context(), web.Listener.Addr().String(), test.to); err != nil {
				t.Fatal(err)
			}
			if got := reads.Load(); got != test.reads {
				t.Errorf("returned after %d readings, want %d", got, test.reads)
			}
		})
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Await(ctx, "127.0.0.1:1", Point{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestReplicas(t *testing.T) {
	tests := map[string]struct {
		acknowledged []float64
		want         bool
	}{
		"both":               {acknowledged: []float64{3, 3}, want: true},
		"one of them":        {acknowledged: []float64{3, 2}},
		"one is not known":   {acknowledged: []float64{3}},
		"more than expected": {acknowledged: []float64{3, 3, 3}, want: true},
		"one of many":        {acknowledged: []float64{3, 3, 0}},
		"of an older epoch":  {acknowledged: []float64{3, 9}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := reading{deltaSequence: {3}, acknowledged: test.acknowledged}
			if got := now.acknowledged(2); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestSamples(t *testing.T) {
	text := "# HELP a A.\n# TYPE a gauge\na{rank=\"0\"} 7\na{rank=\"1\"} 8\nb 1.5e+06\nnot a number\n\n"
	want := reading{"a": {7, 8}, "b": {1.5e6}}
	if diff := cmp.Diff(want, samples([]byte(text))); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}
