/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package layout

import (
	"slices"
	"strings"
	"testing"
)

// TestImportDirection holds the map of borders.go against what is imported.
func TestImportDirection(t *testing.T) {
	for _, p := range repositoryPackages(t) {
		if p.path() == "" || withinAny(p.path(), unmapped) {
			continue
		}
		border, known := borderOf(p.path())
		if !known {
			t.Errorf("%s has no place on the map of test/layout/borders.go", p.path())
			continue
		}
		for _, broken := range border.broken(p) {
			t.Errorf("%s %s", p.path(), broken)
		}
	}
}

// TestModuleOwners holds that a module with an owner is imported nowhere else.
func TestModuleOwners(t *testing.T) {
	for _, p := range repositoryPackages(t) {
		for _, imported := range p.Imports {
			for owned, trees := range owners {
				if within(imported, owned) && !withinAny(p.path(), trees) {
					t.Errorf("%s imports %s, which only %s may", p.path(), imported, strings.Join(trees, ", "))
				}
			}
		}
	}
}

// TestMapIsOrdered holds that the map itself runs downwards: a border opens only
// to trees above it, so no cycle of permissions can arise.
func TestMapIsOrdered(t *testing.T) {
	for i, border := range borders {
		for _, tree := range border.ours {
			position := slices.IndexFunc(borders, func(other borderRow) bool { return within(tree, other.tree) })
			if position < 0 || position >= i {
				t.Errorf("%s may import %s, which does not stand above it", border.tree, tree)
			}
		}
	}
}

func TestBroken(t *testing.T) {
	index := module + "/pkg/index"
	tests := map[string]struct {
		given goPackage
		want  int
	}{
		"what the border opens to":           {given: goPackage{Imports: []string{"fmt", module + "/pkg/fingerprint", index + "/internal"}}},
		"a package of ours below":            {given: goPackage{Imports: []string{module + "/pkg/routing"}}, want: 1},
		"a test's import of a package below": {given: goPackage{XTestImports: []string{module + "/pkg/routing"}}, want: 1},
		"a test's import of joint tests":     {given: goPackage{TestImports: []string{module + "/test/engine"}}},
		"joint tests in production":          {given: goPackage{Imports: []string{module + "/test/engine"}}, want: 1},
		"a distant link":                     {given: goPackage{Deps: []string{"k8s.io/api/core/v1", "google.golang.org/grpc"}}, want: 2},
		"a name that only starts alike":      {given: goPackage{Deps: []string{"google.golang.org/grpcurl"}}},
	}
	border, _ := borderOf("pkg/index")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.given.ImportPath = index
			if got := border.broken(test.given); len(got) != test.want {
				t.Errorf("%d broken rules, want %d: %q", len(got), test.want, got)
			}
		})
	}
}
