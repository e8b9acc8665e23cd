/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// port has been probed already.
type port struct {
	report indexserver.ProbeReport
	err    error
}

func (p port) Probe(context.Context) (indexserver.ProbeReport, error) { return p.report, p.err }

func TestProbe(t *testing.T) {
	ok := indexserver.ProbeStage{Took: 1999 * time.Microsecond}
	stage := func(o indexserver.ProbeOutcome, message string) indexserver.ProbeStage {
		return indexserver.ProbeStage{Outcome: o, Message: message}
	}
	tests := map[string]struct {
		report indexserver.ProbeReport
		want   []inferencecache.ProbeStage
	}{
		"good": {
			report: indexserver.ProbeReport{Ingest: ok, Routing: ok},
			want:   []inferencecache.ProbeStage{{Name: "ingest", Result: "ok", DurationMs: 1}, {Name: "routing", Result: "ok", DurationMs: 1}},
		},
		"ingest failed": {
			report: indexserver.ProbeReport{Ingest: stage(indexserver.ProbeFailed, "a"), Routing: stage(indexserver.ProbeSkipped, "b")},
			want:   []inferencecache.ProbeStage{{Name: "ingest", Result: "failed", Message: "a"}, {Name: "routing", Result: "skipped", Message: "b"}},
		},
		"routing unknown": {
			report: indexserver.ProbeReport{Ingest: ok, Routing: stage(indexserver.ProbeUnknown, "c")},
			want:   []inferencecache.ProbeStage{{Name: "ingest", Result: "ok", DurationMs: 1}, {Name: "routing", Result: "unknown", Message: "c"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			prober := Prober{Source: newFixture(t).source(), Port: port{report: test.report}}
			got, err := prober.Probe(t.Context(), types.NamespacedName{Namespace: "ns", Name: "cb"})
			if err != nil {
				t.Fatal(err)
			}
			want := inferencecache.CacheBackendProbeStatus{
				ObservedBy: "replica-a", AsOf: ptr.To(metav1.NewMicroTime(epochStart)), Complete: true, Stages: test.want,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProbeRefused(t *testing.T) {
	broken := errors.New("broken")
	prober := func(err error) Prober { return Prober{Source: newFixture(t).source(), Port: port{err: err}} }
	_, err := prober(indexserver.ErrTooManyProbes).Probe(t.Context(), types.NamespacedName{})
	if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds != 1 {
		t.Errorf("too many probes: %v", err)
	}
	if _, err := prober(broken).Probe(t.Context(), types.NamespacedName{}); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}
