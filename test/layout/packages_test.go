/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	// module is the path of this repository's Go module.
	module = "inferencecache.io/inference-cache"
	// root is the top of the repository as the tests of this package see it.
	root = "../.."
)

// goPackage is what the go command tells about a package, as far as a rule
// asks for it.
type goPackage struct {
	ImportPath   string
	Name         string
	Dir          string
	Doc          string
	Standard     bool
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// path is the import path inside the module, "pkg/index" for the index.
func (p goPackage) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// allImports are the imports of the package and of its tests, sorted.
func (p goPackage) allImports() []string {
	imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	slices.Sort(imports)
	return slices.Compact(imports)
}

// loadPackages asks the go command once for all tests.
var loadPackages = sync.OnceValues(listPackages)

// repositoryPackages lists the packages of the module; a list that is too short
// means that the go command did not see the tree.
func repositoryPackages(t *testing.T) []goPackage {
	t.Helper()
	packages, err := loadPackages()
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 5 {
		t.Fatalf("the go command lists %d packages", len(packages))
	}
	return packages
}

// listPackages loads every package of the module, with what it links. Files
// behind the integration build tag count too.
func listPackages() ([]goPackage, error) {
	command := exec.Command("go", "list", "-e", "-tags=integration",
		"-json=ImportPath,Name,Dir,Doc,Standard,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	var packages []goPackage
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if !p.Standard {
			packages = append(packages, p)
		}
	}
}

// within tells whether path is prefix or lies below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
}

// withinAny tells whether path lies in one of the trees.
func withinAny(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return within(path, prefix) })
}
