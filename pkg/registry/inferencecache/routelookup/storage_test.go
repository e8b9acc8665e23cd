/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routelookup

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
)

// fakeLookuper answers every lookup with one candidate.
type fakeLookuper struct {
	err       error
	namespace string
}

func (f *fakeLookuper) Lookup(_ context.Context, namespace string, lookup *inferencecache.RouteLookup) error {
	f.namespace = namespace
	lookup.Status.Reason = inferencecache.RouteReasonPrefixMatch
	lookup.Status.Replicas = []inferencecache.RouteCandidate{{Pod: "vllm-0"}}
	return f.err
}

func newLookup(changes ...func(*inferencecache.RouteLookup)) *inferencecache.RouteLookup {
	lookup := &inferencecache.RouteLookup{
		ObjectMeta: metav1.ObjectMeta{Name: "mine"},
		Spec:       inferencecache.RouteLookupSpec{ModelID: "m", TokenIDs: []int64{1, 2, 3}},
	}
	for _, change := range changes {
		change(lookup)
	}
	return lookup
}

func TestCreate(t *testing.T) {
	tests := map[string]struct {
		change     func(*inferencecache.RouteLookup)
		namespace  string
		admit      error
		live       fakeLookuper
		dryRun     bool
		wantPrefix string
		refused    func(error) bool
	}{
		"named":                {namespace: "ns", wantPrefix: "mine"},
		"dry-run":              {namespace: "ns", dryRun: true, wantPrefix: "mine"},
		"unnamed":              {namespace: "ns", change: func(l *inferencecache.RouteLookup) { l.Name = "" }, wantPrefix: "lookup-"},
		"generated name":       {namespace: "ns", change: func(l *inferencecache.RouteLookup) { l.Name, l.GenerateName = "", "q-" }, wantPrefix: "q-"},
		"status is not taken":  {namespace: "ns", change: func(l *inferencecache.RouteLookup) { l.Status.Tokens = 9 }, wantPrefix: "mine"},
		"nothing asked":        {namespace: "ns", change: func(l *inferencecache.RouteLookup) { l.Spec = inferencecache.RouteLookupSpec{} }, refused: apierrors.IsInvalid},
		"another namespace":    {namespace: "ns", change: func(l *inferencecache.RouteLookup) { l.Namespace = "other" }, refused: apierrors.IsBadRequest},
		"no namespace":         {refused: apierrors.IsBadRequest},
		"refused by admission": {namespace: "ns", admit: apierrors.NewForbidden(inferencecache.Resource("routelookups"), "mine", errors.New("no")), refused: apierrors.IsForbidden},
		"live data fail":       {namespace: "ns", live: fakeLookuper{err: errors.New("broken")}, refused: apierrors.IsInternalError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lookup := newLookup()
			if test.change != nil {
				test.change(lookup)
			}
			lookup.UID, lookup.ManagedFields = "uid", []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
			options := &metav1.CreateOptions{}
			if test.dryRun {
				options.DryRun = []string{metav1.DryRunAll}
			}
			ctx := genericapirequest.WithNamespace(t.Context(), test.namespace)
			obj, err := NewREST(&test.live).Create(ctx, lookup, func(context.Context, runtime.Object) error { return test.admit }, options)
			if test.refused != nil {
				if !test.refused(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			answer := obj.(*inferencecache.RouteLookup)
			if !strings.HasPrefix(answer.Name, test.wantPrefix) || strings.HasSuffix(answer.Name, "-") {
				t.Errorf("name %q, want it to start with %q", answer.Name, test.wantPrefix)
			}
			wantMeta := metav1.ObjectMeta{Name: answer.Name, Namespace: "ns"}
			if diff := cmp.Diff(wantMeta, answer.ObjectMeta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			wantStatus := inferencecache.RouteLookupStatus{Reason: "PREFIX_MATCH", Replicas: []inferencecache.RouteCandidate{{Pod: "vllm-0"}}}
			if diff := cmp.Diff(wantStatus, answer.Status); diff != "" || test.live.namespace != "ns" {
				t.Errorf("asked in %q, status (-want +got):\n%s", test.live.namespace, diff)
			}
		})
	}
}

func TestCreateRefusesOtherKinds(t *testing.T) {
	ctx := genericapirequest.WithNamespace(t.Context(), "ns")
	if _, err := NewREST(&fakeLookuper{}).Create(ctx, &inferencecache.CachePolicy{}, nil, nil); !apierrors.IsBadRequest(err) {
		t.Errorf("another kind: %v, want a bad request", err)
	}
}

func TestTable(t *testing.T) {
	match := inferencecache.RouteLookupStatus{Reason: "PREFIX_MATCH", Explanation: "two match", Replicas: []inferencecache.RouteCandidate{
		{Pod: "vllm-0", MatchedTokens: 64, Exact: true, Tier: "T1", State: "Live", Score: "12.5", ExpectedTTFTMilliseconds: "0.25", Sequence: 7},
		{
			Pod: "vllm-1", Rank: 1, MatchedTokens: 32, T2Tokens: 8, T3Tokens: 16, Tier: "T3", State: "Suspect", Score: "3",
			ExpectedTTFTMilliseconds: "9.75", Sequence: 5,
		},
	}}
	tests := map[string]struct {
		status inferencecache.RouteLookupStatus
		wide   bool
		want   string
	}{
		"match": {
			status: match,
			want: `
REASON         REPLICA    MATCHED   TIER   STATE     EXACT   SCORE
PREFIX_MATCH   vllm-0     64        T1     Live      true    12.5
PREFIX_MATCH   vllm-1/1   32        T3     Suspect   false   3
`,
		},
		"match, wide": {
			status: match,
			wide:   true,
			want: `
REASON         REPLICA    MATCHED   TIER   STATE     EXACT   SCORE   TTFT   T2   T3   SEQUENCE   EXPLANATION
PREFIX_MATCH   vllm-0     64        T1     Live      true    12.5    0.25   0    0    7          two match
PREFIX_MATCH   vllm-1/1   32        T3     Suspect   false   3       9.75   8    16   5          two match
`,
		},
		"no match, wide": {
			status: inferencecache.RouteLookupStatus{Reason: "NO_HINT", Explanation: "nobody reports"},
			wide:   true,
			want: `
REASON    REPLICA   MATCHED   TIER     STATE    EXACT    SCORE    TTFT     T2       T3       SEQUENCE   EXPLANATION
NO_HINT   <none>    <none>    <none>   <none>   <none>   <none>   <none>   <none>   <none>   <none>     nobody reports
`,
		},
		"no match": {
			status: inferencecache.RouteLookupStatus{Reason: "NO_HINT"},
			want: `
REASON    REPLICA   MATCHED   TIER     STATE    EXACT    SCORE
NO_HINT   <none>    <none>    <none>   <none>   <none>   <none>
`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := tabletest.Print(t, newTable(), &inferencecache.RouteLookup{Status: test.status}, test.wide)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}
