/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestOptionsFromQuery(t *testing.T) {
	tests := map[string]struct {
		query   string
		into    runtime.Object
		want    runtime.Object
		refused bool
	}{
		"observation with everything": {
			query: "limit=7&tier=T2&model=m&watch=true",
			into:  &inferencecache.CacheBackendObservationOptions{},
			want:  &inferencecache.CacheBackendObservationOptions{Limit: 7, Tier: "T2", Model: "m", Watch: true},
		},
		"observation with nothing": {
			into: &inferencecache.CacheBackendObservationOptions{},
			want: &inferencecache.CacheBackendObservationOptions{},
		},
		"snapshot with everything": {
			query: "limit=7&tier=T1&model=a%2Fb&continue=abc&watch=1",
			into:  &inferencecache.CacheBackendSnapshotOptions{},
			want:  &inferencecache.CacheBackendSnapshotOptions{Limit: 7, Tier: "T1", Model: "a/b", Continue: "abc", Watch: true},
		},
		"unknown parameters are ignored": {
			query: "pretty=true&limit=1",
			into:  &inferencecache.CacheBackendSnapshotOptions{},
			want:  &inferencecache.CacheBackendSnapshotOptions{Limit: 1},
		},
		"limit that is no number": {
			query:   "limit=many",
			into:    &inferencecache.CacheBackendSnapshotOptions{},
			refused: true,
		},
	}
	codec := runtime.NewParameterCodec(newScheme())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			values, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			err = codec.DecodeParameters(values, v1alpha1.SchemeGroupVersion, test.into)
			if test.refused {
				if err == nil {
					t.Fatalf("decoded %q without an error into %+v", test.query, test.into)
				}
				return
			}
			if err != nil {
				t.Fatalf("decode %q: %v", test.query, err)
			}
			if diff := cmp.Diff(test.want, test.into); diff != "" {
				t.Fatalf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptionsToQuery(t *testing.T) {
	codec := runtime.NewParameterCodec(newScheme())
	values, err := codec.EncodeParameters(&v1alpha1.CacheBackendSnapshotOptions{Limit: 2, Tier: "T1", Continue: "c"}, v1alpha1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("continue=c&limit=2&tier=T1", values.Encode()); diff != "" {
		t.Fatalf("query (-want +got):\n%s", diff)
	}
}
