/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vague are names that say nothing about what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types_extra", "lib", "base"}

// TestNames holds that packages and files are named for what they hold. The
// generators name their own.
func TestNames(t *testing.T) {
	for _, p := range repositoryPackages(t) {
		if within(p.path(), "pkg/generated") {
			continue
		}
		if slices.Contains(vague, path.Base(p.path())) || slices.Contains(vague, p.Name) {
			t.Errorf("package %s: the name says nothing about what it holds", p.path())
		}
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			if stem := strings.TrimSuffix(strings.TrimSuffix(file, ".go"), "_test"); slices.Contains(vague, stem) {
				t.Errorf("%s/%s: the name says nothing about what it holds", p.path(), file)
			}
		}
	}
}

// TestPackageDocumentation holds that each package states its contract: in
// doc.go where it is imported, in front of main where it is a program.
func TestPackageDocumentation(t *testing.T) {
	for _, p := range repositoryPackages(t) {
		if within(p.path(), "pkg/generated") || len(p.GoFiles) == 0 {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.path())
		}
		if p.Name != "main" && !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go", p.path())
		}
	}
}

// TestOneRESTRolePerFile holds that a file of the registry serves one role of a
// resource: at most one type whose name ends in REST.
func TestOneRESTRolePerFile(t *testing.T) {
	for _, p := range repositoryPackages(t) {
		if !within(p.path(), "pkg/registry") {
			continue
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("parse %s: %v", name, err)
				continue
			}
			if roles := restTypes(file); len(roles) > 1 {
				t.Errorf("%s/%s holds %d roles: %s", p.path(), name, len(roles), strings.Join(roles, ", "))
			}
		}
	}
}

// restTypes names the struct types of a file that end in REST.
func restTypes(file *ast.File) []string {
	var names []string
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			declared := spec.(*ast.TypeSpec)
			if _, isStruct := declared.Type.(*ast.StructType); isStruct && strings.HasSuffix(declared.Name.Name, "REST") {
				names = append(names, declared.Name.Name)
			}
		}
	}
	return names
}
