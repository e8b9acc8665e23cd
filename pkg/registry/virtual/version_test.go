/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apiserver/pkg/storage"

	"inferencecache.io/inference-cache/test/mutation"
)

func TestVersionsParse(t *testing.T) {
	versions := NewVersions(7)
	tests := map[string]struct {
		version string
		want    uint64
		check   func(error) bool
	}{
		"own version":                  {version: versions.Format(42), want: 42},
		"revision zero":                {version: versions.Format(0), want: 0},
		"largest revision":             {version: versions.Format(1<<32 - 1), want: 1<<32 - 1},
		"other epoch":                  {version: NewVersions(8).Format(42), check: apierrors.IsResourceExpired},
		"revision over the top":        {version: versions.Format(1 << 32), check: apierrors.IsResourceExpired},
		"a revision of another server": {version: "42", check: apierrors.IsResourceExpired},
		"zero":                         {version: "0", check: apierrors.IsBadRequest},
		"empty":                        {version: "", check: apierrors.IsBadRequest},
		"negative":                     {version: "-1", check: apierrors.IsBadRequest},
		"text":                         {version: "abc", check: apierrors.IsBadRequest},
		"more than 64 bits":            {version: "99999999999999999999", check: apierrors.IsBadRequest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := versions.Parse(test.version)
			if test.check != nil {
				if !test.check(err) {
					t.Fatalf("Parse(%q) = %d, %v, which is not the expected error", test.version, got, err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("Parse(%q) = %d, %v, want %d", test.version, got, err, test.want)
			}
		})
	}
}

func TestVersionsAreOrderedAndPositive(t *testing.T) {
	for name, epoch := range map[string]uint32{"zero epoch": 0, "only the ignored bit": 1 << 31, "largest": 1<<32 - 1} {
		t.Run(name, func(t *testing.T) {
			versions := NewVersions(epoch)
			order, err := resourceversion.CompareResourceVersion(versions.Format(9), versions.Format(10))
			if err != nil || order != -1 {
				t.Errorf("comparing revisions 9 and 10: %d, %v, want -1", order, err)
			}
		})
	}
}

func TestVersionsRequests(t *testing.T) {
	versions := NewVersions(7)
	tests := map[string]struct {
		check   func(string, uint64) error
		version string
		want    func(error) bool
	}{
		"any":             {check: versions.atLeast, version: ""},
		"any by zero":     {check: versions.atLeast, version: "0"},
		"older":           {check: versions.atLeast, version: versions.Format(4)},
		"current":         {check: versions.atLeast, version: versions.Format(5)},
		"from the future": {check: versions.atLeast, version: versions.Format(6), want: storage.IsTooLargeResourceVersion},
		"foreign":         {check: versions.atLeast, version: "5", want: apierrors.IsResourceExpired},
		"exactly now":     {check: versions.exactly, version: versions.Format(5)},
		"exactly before":  {check: versions.exactly, version: versions.Format(4), want: apierrors.IsResourceExpired},
		"exactly later":   {check: versions.exactly, version: versions.Format(6), want: storage.IsTooLargeResourceVersion},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.check(test.version, 5)
			if test.want == nil && err != nil || test.want != nil && !test.want(err) {
				t.Errorf("unexpected outcome %v", err)
			}
		})
	}
}

func FuzzVersionsParse(f *testing.F) {
	corpus := mutation.New(f, 5000)
	versions := NewVersions(7)
	for _, seed := range []string{"", "0", "7", versions.Format(0), versions.Format(1 << 31), "+1", "1e9", " 1"} {
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t *testing.T, version string) {
		revision, err := versions.Parse(version)
		if err != nil {
			return
		}
		again, err := versions.Parse(versions.Format(revision))
		if err != nil || again != revision {
			t.Errorf("revision %d of %q came back as %d, %v", revision, version, again, err)
		}
	})
}
