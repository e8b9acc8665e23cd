/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/warning"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// fakeStore knows the backend of testBackend and nothing else.
type fakeStore struct{}

func (fakeStore) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if name != "a" {
		return nil, apierrors.NewNotFound(inferencecache.Resource("cachebackends"), name)
	}
	return testBackend(), nil
}

// fakeLive answers with as many replicas or items as it is told to and keeps the
// question.
type fakeLive struct {
	count   int
	err     error
	backend types.NamespacedName
	uid     types.UID
	options runtime.Object
}

func (f *fakeLive) Observe(_ context.Context, backend types.NamespacedName, uid types.UID,
	options *inferencecache.CacheBackendObservationOptions) (*inferencecache.CacheBackendObservation, error) {
	f.backend, f.uid, f.options = backend, uid, options
	return &inferencecache.CacheBackendObservation{Replicas: make([]inferencecache.ObservedReplica, f.count)}, f.err
}

func (f *fakeLive) ListSnapshot(_ context.Context, backend types.NamespacedName, uid types.UID,
	options *inferencecache.CacheBackendSnapshotOptions) (*inferencecache.CacheBackendSnapshot, error) {
	f.backend, f.uid, f.options = backend, uid, options
	return &inferencecache.CacheBackendSnapshot{Items: make([]inferencecache.SnapshotItem, f.count)}, f.err
}

// recorder collects warning headers.
type recorder []string

func (r *recorder) AddWarning(_, text string) { *r = append(*r, text) }

func TestObservationGet(t *testing.T) {
	type options = inferencecache.CacheBackendObservationOptions
	tests := map[string]struct {
		name         string
		options      options
		live         fakeLive
		wantOptions  *options
		wantReplicas int
		wantWarnings []string
		refused      func(error) bool
	}{
		"default limit": {
			name: "a", live: fakeLive{count: 3},
			wantOptions: &options{Limit: 500}, wantReplicas: 3,
		},
		"restricted": {
			name: "a", options: options{Tier: "T2", Model: "m", Limit: 2}, live: fakeLive{count: 2},
			wantOptions: &options{Tier: "T2", Model: "m", Limit: 2}, wantReplicas: 2,
		},
		"cut at the limit": {
			name: "a", options: options{Limit: 2}, live: fakeLive{count: 3},
			wantOptions: &options{Limit: 2}, wantReplicas: 2,
			wantWarnings: []string{"replicas: showing the first 2 of 3"},
		},
		"limit out of bounds": {
			name: "a", options: options{Limit: 1 << 40},
			wantOptions:  &options{Limit: 5000},
			wantWarnings: []string{"limit: 1099511627776 is more than one answer holds, using 5000"},
		},
		"negative limit": {name: "a", options: options{Limit: -1}, refused: apierrors.IsBadRequest},
		"unknown tier":   {name: "a", options: options{Tier: "T9"}, refused: apierrors.IsBadRequest},
		"watch":          {name: "a", options: options{Watch: true}, refused: apierrors.IsBadRequest},
		"no parent":      {name: "b", refused: apierrors.IsNotFound},
		"live data fail": {name: "a", live: fakeLive{err: errors.New("broken")}, refused: apierrors.IsInternalError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var warnings recorder
			ctx := warning.WithWarningRecorder(t.Context(), &warnings)
			rest := &ObservationREST{parent: virtual.NewParent(fakeStore{}), observer: &test.live}
			obj, err := rest.Get(ctx, test.name, &test.options)
			if test.refused != nil {
				if !test.refused(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			observation := obj.(*inferencecache.CacheBackendObservation)
			wantMeta := metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "uid"}
			if diff := cmp.Diff(wantMeta, observation.ObjectMeta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantOptions, test.live.options); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
			if test.live.backend != (types.NamespacedName{Namespace: "ns", Name: "a"}) || test.live.uid != "uid" {
				t.Errorf("asked for %s with UID %s", test.live.backend, test.live.uid)
			}
			if len(observation.Replicas) != test.wantReplicas {
				t.Errorf("%d replicas, want %d", len(observation.Replicas), test.wantReplicas)
			}
			if diff := cmp.Diff(test.wantWarnings, []string(warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSnapshotGet(t *testing.T) {
	type options = inferencecache.CacheBackendSnapshotOptions
	tests := map[string]struct {
		name        string
		options     options
		live        fakeLive
		wantOptions *options
		refused     func(error) bool
	}{
		"default limit": {name: "a", live: fakeLive{count: 3}, wantOptions: &options{Limit: 500}},
		"next page": {
			name: "a", options: options{Limit: 2, Continue: "token", Model: "m", Tier: "T1"}, live: fakeLive{count: 2},
			wantOptions: &options{Limit: 2, Continue: "token", Model: "m", Tier: "T1"},
		},
		"limit out of bounds": {name: "a", options: options{Limit: 1 << 40}, wantOptions: &options{Limit: 5000}},
		"negative limit":      {name: "a", options: options{Limit: -1}, refused: apierrors.IsBadRequest},
		"unknown tier":        {name: "a", options: options{Tier: "t1"}, refused: apierrors.IsBadRequest},
		"watch":               {name: "a", options: options{Watch: true}, refused: apierrors.IsBadRequest},
		"huge token":          {name: "a", options: options{Continue: strings.Repeat("x", 4097)}, refused: apierrors.IsBadRequest},
		"foreign token":       {name: "a", live: fakeLive{err: fmt.Errorf("decoding: %w", virtual.ErrInvalidContinue)}, refused: apierrors.IsBadRequest},
		"old token":           {name: "a", live: fakeLive{err: virtual.ErrExpiredContinue}, refused: apierrors.IsResourceExpired},
		"no parent":           {name: "b", refused: apierrors.IsNotFound},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rest := &SnapshotREST{parent: virtual.NewParent(fakeStore{}), snapshots: &test.live}
			obj, err := rest.Get(t.Context(), test.name, &test.options)
			if test.refused != nil {
				if !test.refused(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantMeta := metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "uid"}
			if diff := cmp.Diff(wantMeta, obj.(*inferencecache.CacheBackendSnapshot).ObjectMeta); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantOptions, test.live.options); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVirtualSubresourcesRefuseOtherOptions(t *testing.T) {
	parent := virtual.NewParent(fakeStore{})
	if _, err := (&ObservationREST{parent: parent, observer: &fakeLive{}}).Get(t.Context(), "a", &metav1.GetOptions{}); err == nil {
		t.Error("an observation was given for other options")
	}
	if _, err := (&SnapshotREST{parent: parent, snapshots: &fakeLive{}}).Get(t.Context(), "a", &metav1.GetOptions{}); err == nil {
		t.Error("a snapshot was given for other options")
	}
}

func TestVirtualTables(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(now)
	event := ptr.To(metav1.NewMicroTime(now.Add(-5 * time.Second)))
	observation := &inferencecache.CacheBackendObservation{Replicas: []inferencecache.ObservedReplica{
		{
			Namespace: "ns", Pod: "vllm-0", State: "Live", Epoch: 7, Sequence: 42, LastEventAt: event, Engine: "vllm", Model: "m", BlockSize: 16,
			Exact: true, PrefixCount: 12, Blocks: inferencecache.TierBlocks{T1: 10, T2: 2},
			Load: &inferencecache.EngineLoad{Running: 1, Waiting: 2, CacheUsage: ptr.To("0.5")},
		},
		{Namespace: "ns", Pod: "vllm-0", Rank: 1, State: "Rebuilding"},
	}}
	snapshot := &inferencecache.CacheBackendSnapshot{Items: []inferencecache.SnapshotItem{{
		Scope: inferencecache.BlockScope{Model: "m", HashScheme: "s", BlockSize: 16}, Hash: "00000000000000ff", Tokens: 32, Tier: "T1",
		Replicas: []inferencecache.SnapshotReplica{{Pod: "vllm-0"}, {Pod: "vllm-0", Rank: 1}},
	}}}
	tests := map[string]struct {
		obj  runtime.Object
		wide bool
		want string
	}{
		"observation": {obj: observation, want: `
REPLICA    STATE        PREFIXES   T1   T2   T3   LASTEVENT   MODEL
vllm-0     Live         12         10   2    0    5s          m
vllm-0/1   Rebuilding   0          0    0    0    <none>      <none>
`},
		"wide observation": {obj: observation, wide: true, want: `
REPLICA    STATE        PREFIXES   T1   T2   T3   LASTEVENT   MODEL    ENGINE   BLOCKSIZE   EXACT   CONFLICTS   EPOCH   SEQUENCE   RUNNING   WAITING   CACHEUSAGE
vllm-0     Live         12         10   2    0    5s          m        vllm     16          true    0           7       42         1         2         0.5
vllm-0/1   Rebuilding   0          0    0    0    <none>      <none>   <none>   0           false   0           0       0          <none>    <none>    <none>
`},
		"observation without engines": {obj: &inferencecache.CacheBackendObservation{}, want: `
REPLICA   STATE    PREFIXES   T1       T2       T3       LASTEVENT   MODEL
<none>    <none>   <none>     <none>   <none>   <none>   <none>      <none>
`},
		"snapshot": {obj: snapshot, want: `
HASH               TOKENS   TIER   REPLICAS
00000000000000ff   32       T1     vllm-0,vllm-0/1
`},
		"wide snapshot": {obj: snapshot, wide: true, want: `
HASH               TOKENS   TIER   REPLICAS          MODEL   ADAPTER   SCHEME   BLOCKSIZE   SALTED
00000000000000ff   32       T1     vllm-0,vllm-0/1   m       <none>    s        16          false
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			convertor := newObservationTable(clock)
			if _, ok := test.obj.(*inferencecache.CacheBackendSnapshot); ok {
				convertor = newSnapshotTable(clock)
			}
			if diff := cmp.Diff(test.want, tabletest.Print(t, convertor, test.obj, test.wide)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVirtualTableRowsStaySmall(t *testing.T) {
	observation := &inferencecache.CacheBackendObservation{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "uid"},
		Replicas:   make([]inferencecache.ObservedReplica, 3),
	}
	table, err := newObservationTable(testingclock.NewFakePassiveClock(now)).ConvertToTable(t.Context(), observation, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &inferencecache.CacheBackendObservation{ObjectMeta: observation.ObjectMeta}
	for _, row := range table.Rows {
		if diff := cmp.Diff(runtime.Object(want), row.Object.Object); diff != "" {
			t.Errorf("object of a row (-want +got):\n%s", diff)
		}
	}
}
