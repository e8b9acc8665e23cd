/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"math/rand"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	cachefuzzer "inferencecache.io/inference-cache/pkg/apis/inferencecache/fuzzer"
)

func newScheme() (*runtime.Scheme, serializer.CodecFactory) {
	scheme := runtime.NewScheme()
	Install(scheme)
	return scheme, serializer.NewCodecFactory(scheme)
}

var fillFuncs = fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, cachefuzzer.Funcs)

func TestRoundTripThroughServedVersions(t *testing.T) {
	scheme, codecs := newScheme()
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	fill := fuzzer.FuzzerFor(fillFuncs, rand.NewSource(seed), codecs)
	roundtrip.RoundTripTypesWithoutProtobuf(t, scheme, codecs, fill, nil)
}

// TestRoundTripWithoutOurTypes covers clients that hold our objects as plain
// maps, in JSON and in CBOR.
func TestRoundTripWithoutOurTypes(t *testing.T) {
	scheme, _ := newScheme()
	foreign := sets.New[schema.GroupVersionKind]()
	for gvk := range scheme.AllKnownTypes() {
		// The kinds that every group version carries have no hub type of ours.
		if !scheme.Recognizes(inferencecache.SchemeGroupVersion.WithKind(gvk.Kind)) {
			foreign.Insert(gvk)
		}
	}
	roundtrip.RoundtripToUnstructured(t, scheme, fillFuncs, foreign, nil)
}
