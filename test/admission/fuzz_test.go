/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/mutation"
)

// words are what random fields are often filled with, so that some of them mean
// something.
var words = []string{
	"", " ", "a", "A b", "VLLM", "SGLang", "LMCache", "SGLangHiCache", "Redis", "LMCacheServer", "Mooncake", "Managed",
	"External", "EventsOnly", "Offload", "ReadWrite", "redis:6379", "lm://[::1]:1", "a.b.svc:1", "1.5", "NaN", "--hicache-ratio",
	"--kv-transfer-config=x", "PYTHONHASHSEED", "metadata.name", "metadata.labels['a']", "limits.cpu", "In", "Exists", "Equal",
	"NoExecute", "DoNotSchedule", "Localhost", "..", "/", "image:latest", "strict", "zone",
}

// FuzzCacheBackend holds for random backends that defaults settle at once, that
// validation neither panics nor changes its mind, and that an update without a
// change is accepted whatever was stored.
func FuzzCacheBackend(f *testing.F) {
	corpus := mutation.New(f, 300)
	for seed := range int64(64) {
		corpus.Add(seed)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	kind := kinds["CacheBackend"]
	corpus.Fuzz(func(t *testing.T, seed int64) {
		backend := &v1alpha1.CacheBackend{}
		filler(seed, serializer.NewCodecFactory(scheme)).Fill(backend)
		// What is stored always has sound metadata; only the annotation is ours to judge.
		backend.ObjectMeta = metav1.ObjectMeta{Name: "a", Namespace: "ns", Annotations: map[string]string{
			v1alpha1.AnnotationKernelCheck: words[uint64(seed)%uint64(len(words))],
		}}

		scheme.Default(backend)
		again := backend.DeepCopy()
		scheme.Default(again)
		if diff := cmp.Diff(backend, again); diff != "" {
			t.Fatalf("defaults of defaults (-once +twice):\n%s", diff)
		}

		object, err := scheme.ConvertToVersion(backend, inferencecache.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		before := object.DeepCopyObject()
		errs := kind.validate(object)
		if !apiequality.Semantic.DeepEqual(before, object) {
			t.Fatalf("validation changes an object (-before +after):\n%s", cmp.Diff(before, object))
		}
		if diff := cmp.Diff(texts(errs), texts(kind.validate(object))); diff != "" {
			t.Fatalf("validation of one object twice (-first +second):\n%s", diff)
		}
		if errs := kind.update(stored(object), stored(object)); len(errs) > 0 {
			t.Fatalf("an update without a change is refused: %v", errs.ToAggregate())
		}
	})
}

// filler fills objects at random, with a word in place of every other string.
func filler(seed int64, codecs serializer.CodecFactory) *randfill.Filler {
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs), rand.NewSource(seed), codecs).
		NilChance(0.4).NumElements(0, 3).Funcs(func(text *string, c randfill.Continue) {
		*text = words[c.Intn(len(words))]
		if c.Bool() {
			*text = c.String(8)
		}
	})
}
