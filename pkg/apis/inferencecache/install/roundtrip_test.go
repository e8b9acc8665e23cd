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
	"k8s.io/apimachinery/pkg/runtime/serializer"

	cachefuzzer "inferencecache.io/inference-cache/pkg/apis/inferencecache/fuzzer"
)

func newScheme() (*runtime.Scheme, serializer.CodecFactory) {
	scheme := runtime.NewScheme()
	Install(scheme)
	return scheme, serializer.NewCodecFactory(scheme)
}

func TestRoundTripThroughServedVersions(t *testing.T) {
	scheme, codecs := newScheme()
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	fill := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, cachefuzzer.Funcs), rand.NewSource(seed), codecs)
	roundtrip.RoundTripTypesWithoutProtobuf(t, scheme, codecs, fill, nil)
}
