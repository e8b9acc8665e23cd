/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// counts is what an index says of a backend's second tier.
func counts(queries, hits int64) *readiness.Index {
	return &readiness.Index{Entry: &v1alpha1.CacheIndexBackend{T2QueryTokens: ptr.To(queries), T2HitTokens: ptr.To(hits)}}
}

// TestT2Metrics holds what becomes of the index's counts.
func TestT2Metrics(t *testing.T) {
	tests := map[string]struct {
		looks []*readiness.Index
		want  string
	}{
		"what was counted before is not added": {[]*readiness.Index{counts(5000, 100)}, "0 0"},
		"growth is added":                      {[]*readiness.Index{counts(5000, 100), counts(6000, 100), counts(6500, 150)}, "1500 50"},
		"an engine that goes takes nothing":    {[]*readiness.Index{counts(5000, 100), counts(6000, 100), counts(200, 10), counts(300, 20)}, "1100 10"},
		"nothing is known for a while":         {[]*readiness.Index{counts(5000, 100), nil, {}, counts(5100, 100)}, "100 0"},
		"engines that do not count":            {[]*readiness.Index{{Entry: &v1alpha1.CacheIndexBackend{}}}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			m, err := newMetrics(registry)
			if err != nil {
				t.Fatal(err)
			}
			for _, index := range tc.looks {
				m.participates(newBackend(managedRedis), nil, index)
			}
			want := ""
			if queries, hits, found := strings.Cut(tc.want, " "); found {
				want = `
# HELP inferencecache_backend_t2_hit_tokens_total Tokens that engines got from the second tier.
# TYPE inferencecache_backend_t2_hit_tokens_total counter
inferencecache_backend_t2_hit_tokens_total{backend="shared",namespace="team-a"} ` + hits + `
# HELP inferencecache_backend_t2_query_tokens_total Tokens that engines looked up in the second tier.
# TYPE inferencecache_backend_t2_query_tokens_total counter
inferencecache_backend_t2_query_tokens_total{backend="shared",namespace="team-a"} ` + queries + "\n"
			}
			if err := testutil.GatherAndCompare(registry, strings.NewReader(want),
				"inferencecache_backend_t2_hit_tokens_total", "inferencecache_backend_t2_query_tokens_total"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBackendMetrics holds that series come and go with what they are about.
func TestBackendMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	backend := newBackend(managedRedis)
	rates := &v1alpha1.IndexParticipation{HitRate: ptr.To("0.75"), T2HitRate: ptr.To("0")}
	m.participates(backend, rates, counts(1, 0))
	if hit, t2 := testutil.ToFloat64(m.hitRate), testutil.ToFloat64(m.t2HitRate); hit != 0.75 || t2 != 0 {
		t.Errorf("rates %v and %v, want 0.75 and 0", hit, t2)
	}
	m.participates(backend, &v1alpha1.IndexParticipation{HitRate: ptr.To("0.5")}, counts(1, 0))
	if n := testutil.CollectAndCount(m.t2HitRate); n != 0 {
		t.Errorf("%d rates of a second tier that nobody asked, want none", n)
	}
	m.probed(backend, readiness.Probe{})
	if n := testutil.CollectAndCount(m.probes); n != 0 {
		t.Errorf("%d series of probes that are switched off", n)
	}
	m.probed(backend, readiness.Probe{Enabled: true})
	if n := testutil.CollectAndCount(m.probes); n != 12 {
		t.Errorf("%d series before the first probe has ended, want every stage with every result: 12", n)
	}
	m.probed(backend, readiness.Probe{Enabled: true, Stages: []readiness.ProbeStage{{Name: readiness.StageT2, Result: readiness.StageFailed}}})
	if got := testutil.ToFloat64(m.probes.WithLabelValues("team-a", "shared", "t2", "failed")); got != 1 {
		t.Errorf("%v failures are counted, want one", got)
	}
	m.cascaded(backend)
	m.participates(backend, rates, counts(1, 0))
	wantDocumented(t, registry)
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("metric names and help: %v %v", problems, err)
	}
	m.forget(backend.Namespace, backend.Name)
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 0 {
		t.Errorf("%d series are left of a backend that is gone, error %v", n, err)
	}
}

// wantDocumented compares the page for operators with the metrics of a backend that
// has all of them.
func wantDocumented(t *testing.T, registry prometheus.Gatherer) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/operations/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, served []string
	for _, item := range regexp.MustCompile("(?m)^\\* `(inferencecache_backend_[a-z0-9_]+)").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, item[1])
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		served = append(served, family.GetName())
	}
	slices.Sort(documented)
	if diff := cmp.Diff(served, documented); diff != "" {
		t.Errorf("the page lists other metrics than there are (-registry +page):\n%s", diff)
	}
}
