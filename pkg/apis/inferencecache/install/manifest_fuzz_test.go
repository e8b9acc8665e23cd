/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/test/mutation"
)

// FuzzManifest takes whatever a client may send. What decodes at all must stay
// the same when it is stored and read back, must be validated without a panic,
// and must be accepted as an update that changes nothing.
func FuzzManifest(f *testing.F) {
	corpus := mutation.New(f, 2000)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no manifests to start from: %v", err)
	}
	for _, file := range files {
		manifest, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(manifest)
	}
	corpus.Add([]byte(`{"kind":"RouteLookup","apiVersion":"inferencecache.io/v1alpha1","spec":{"modelID":"m","tokenIDs":[1]}}`))
	corpus.Add([]byte(`{"kind":"RouteLookup","apiVersion":"inferencecache.io/v1alpha1","spec":{"modelID":"m","tokenIDs":[1]},` +
		`"status":{"reason":"PREFIX_MATCH","explanation":"why","replicas":[{"pod":"a","matchedTokens":48,"t2Tokens":16,"t3Tokens":16,` +
		`"sequence":3,"expectedTTFTMilliseconds":"0.25","score":"6"}]}}`))
	_, codecs := newScheme()
	codec := codecs.LegacyCodec(v1alpha1.SchemeGroupVersion)
	corpus.Fuzz(func(t *testing.T, manifest []byte) {
		object, err := runtime.Decode(codec, manifest)
		if err != nil {
			return
		}
		stored, err := runtime.Encode(codec, object)
		if err != nil {
			t.Fatalf("decoded %T cannot be encoded: %v", object, err)
		}
		again, err := runtime.Decode(codec, stored)
		if err != nil {
			t.Fatalf("stored %T cannot be decoded: %v", object, err)
		}
		if !apiequality.Semantic.DeepEqual(object, again) {
			t.Fatalf("read back differs (-stored +read):\n%s", cmp.Diff(object, again))
		}
		if errs := updateWithoutChange(object); len(errs) > 0 {
			t.Fatalf("an update of %T that changes nothing is refused: %v", object, errs.ToAggregate())
		}
	})
}

// noAdapters support nothing. What they are asked for is refused before and after
// an update alike.
type noAdapters struct{}

func (noAdapters) Engines() []validation.Engine { return nil }
func (noAdapters) Stores() []validation.Store   { return nil }

func updateWithoutChange(object runtime.Object) field.ErrorList {
	switch object := object.(type) {
	case *inferencecache.CacheBackend:
		validation.ValidateCacheBackend(object, noAdapters{})
		object.ResourceVersion = "1"
		return validation.ValidateCacheBackendUpdate(object, object.DeepCopy(), noAdapters{})
	case *inferencecache.CachePolicy:
		validation.ValidateCachePolicy(object)
		object.ResourceVersion = "1"
		return validation.ValidateCachePolicyUpdate(object, object.DeepCopy())
	case *inferencecache.CacheTenant:
		validation.ValidateCacheTenant(object)
		object.ResourceVersion = "1"
		return validation.ValidateCacheTenantUpdate(object, object.DeepCopy())
	case *inferencecache.RouteLookup:
		validation.ValidateRouteLookup(object)
	}
	return nil
}
