/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mutationPackage is where fuzz targets get their mutated inputs from.
const mutationPackage = "test/mutation"

// TestFuzzTargetsAreMutated holds that a plain run of the tests gives every fuzz
// target mutated inputs too: each takes its seeds through a corpus of
// test/mutation. It looks where hack/fuzz.sh does, whatever the build tags.
func TestFuzzTargetsAreMutated(t *testing.T) {
	targets := 0
	for _, tree := range []string{"cmd", "pkg", "test"} {
		err := filepath.WalkDir(filepath.Join(root, tree), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join(root, mutationPackage) {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(source), "testing.F)") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, target := range fuzzTargets(file) {
				targets++
				for _, broken := range unmutated(target) {
					t.Errorf("%s: %s %s", strings.TrimPrefix(path, root+"/"), target.Name.Name, broken)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if targets < 10 {
		t.Errorf("only %d fuzz targets were found", targets)
	}
}

// fuzzTargets are the functions of a file that are given a testing.F: the targets
// and what they call to add seeds.
func fuzzTargets(file *ast.File) []*ast.FuncDecl {
	var targets []*ast.FuncDecl
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if ok && parameterF(function) != "" {
			targets = append(targets, function)
		}
	}
	return targets
}

// parameterF is the name of a function's parameter of type *testing.F.
func parameterF(function *ast.FuncDecl) string {
	for _, field := range function.Type.Params.List {
		pointer, ok := field.Type.(*ast.StarExpr)
		if !ok || len(field.Names) == 0 {
			continue
		}
		if selector, ok := pointer.X.(*ast.SelectorExpr); ok && isSelector(selector, "testing", "F") {
			return field.Names[0].Name
		}
	}
	return ""
}

// unmutated says how a function goes around a corpus, each as the end of a
// sentence that starts with its name.
func unmutated(function *ast.FuncDecl) []string {
	f := parameterF(function)
	var broken []string
	made := false
	ast.Inspect(function.Body, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		made = made || isSelector(selector, "mutation", "New")
		for _, direct := range []string{"Add", "Fuzz"} {
			if isSelector(selector, f, direct) {
				broken = append(broken, fmt.Sprintf("calls %s.%s; a corpus of %s does that and mutates", f, direct, mutationPackage))
			}
		}
		return true
	})
	if strings.HasPrefix(function.Name.Name, "Fuzz") && !made {
		broken = append(broken, fmt.Sprintf("makes no corpus of %s, so plain tests run only its seeds", mutationPackage))
	}
	return broken
}

// isSelector tells whether a selector is left.right.
func isSelector(selector *ast.SelectorExpr, left, right string) bool {
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == left && selector.Sel.Name == right
}

func TestUnmutated(t *testing.T) {
	tests := map[string]struct {
		source string
		want   int
	}{
		"a corpus":                  {source: "func FuzzA(f *testing.F) { c := mutation.New(f, 1); c.Add(1); c.Fuzz(g) }"},
		"a plain target":            {source: "func FuzzA(f *testing.F) { f.Add(1); f.Fuzz(g) }", want: 3},
		"a corpus that is not used": {source: "func FuzzA(f *testing.F) { mutation.New(f, 1); f.Fuzz(g) }", want: 1},
		"seeds added elsewhere":     {source: "func add(f *testing.F) { f.Add(1) }", want: 1},
		"an f of another type":      {source: "func FuzzA(f testing.TB) { f.Add(1) }"},
		"another name":              {source: "func FuzzA(fuzz *testing.F) { fuzz.Fuzz(g) }", want: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\n"+test.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			var broken []string
			for _, target := range fuzzTargets(file) {
				broken = append(broken, unmutated(target)...)
			}
			if len(broken) != test.want {
				t.Errorf("%d broken rules, want %d: %q", len(broken), test.want, broken)
			}
		})
	}
}
