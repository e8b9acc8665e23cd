/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package layout

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDirectDependenciesAreAccountedFor holds that docs/dependencies.md gives a
// reason for every module that the code imports, and for none that go.mod does
// not have.
func TestDirectDependenciesAreAccountedFor(t *testing.T) {
	named := namedDependencies(t)
	required := requiredModules(t)
	for _, name := range slices.Sorted(maps.Keys(importedModules(t, required))) {
		if !named[name] {
			t.Errorf("%s is imported and has no row in docs/dependencies.md", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !slices.Contains(required, name) {
			t.Errorf("docs/dependencies.md gives a reason for %s, which go.mod does not require", name)
		}
	}
}

// namedDependencies reads the first column of the document's tables.
func namedDependencies(t *testing.T) map[string]bool {
	t.Helper()
	document, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(document)) {
		rest, isRow := strings.CutPrefix(line, "| `")
		name, _, ok := strings.Cut(rest, "` |")
		if isRow && ok && isForeign(name) {
			named[name] = true
		}
	}
	return named
}

// requiredModules lists what go.mod requires, direct or not.
func requiredModules(t *testing.T) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go mod edit -json: %v", err)
	}
	var file struct {
		Require []struct{ Path string }
	}
	if err := json.Unmarshal(output, &file); err != nil {
		t.Fatalf("go mod edit -json: %v", err)
	}
	var modules []string
	for _, requirement := range file.Require {
		modules = append(modules, requirement.Path)
	}
	return modules
}

// importedModules finds the module of every foreign import: the required one
// with the longest path that holds it.
func importedModules(t *testing.T, required []string) map[string]bool {
	t.Helper()
	modules := map[string]bool{}
	for _, p := range repositoryPackages(t) {
		for _, imported := range p.allImports() {
			if !isForeign(imported) || within(imported, module) {
				continue
			}
			owner := ""
			for _, candidate := range required {
				if within(imported, candidate) && len(candidate) > len(owner) {
					owner = candidate
				}
			}
			if owner == "" {
				t.Errorf("%s imports %s, which no module of go.mod provides", p.path(), imported)
				continue
			}
			modules[owner] = true
		}
	}
	return modules
}
