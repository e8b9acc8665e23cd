/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

const (
	// maxFileLines and maxFunctionLines are limits, not aims: a reader should
	// see a function on one screen and hold a file in the head.
	maxFileLines     = 400
	maxFunctionLines = 60
)

// isGenerated tells files that a program writes, by the mark that the Go
// project defines for it ("// Code generated … DO NOT EDIT.").
func isGenerated(name string, content []byte) (bool, error) {
	if filepath.Ext(name) != ".go" {
		return false, nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return false, err
	}
	return ast.IsGenerated(file), nil
}

// checkSizes measures a hand-written Go file and each of its functions.
func checkSizes(name string, content []byte) ([]problem, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var problems []problem
	if lines := strings.Count(string(content), "\n"); lines > maxFileLines {
		problems = append(problems, problem{
			rule: "file-length", subject: name, line: 1,
			detail: fmt.Sprintf("%d lines, at most %d", lines, maxFileLines),
		})
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		lines := span(fset, function)
		if strings.HasSuffix(name, "_test.go") {
			lines -= tableLines(fset, function.Body)
		}
		if lines > maxFunctionLines {
			problems = append(problems, problem{
				rule: "function-length", subject: name + ":" + functionName(function), line: fset.Position(function.Pos()).Line,
				detail: fmt.Sprintf("%s has %d lines, at most %d", functionName(function), lines, maxFunctionLines),
			})
		}
	}
	return problems, nil
}

// tableLines counts the lines of the tables that a test function declares: they
// are data, read row by row, and make no function hard to follow.
func tableLines(fset *token.FileSet, body *ast.BlockStmt) int {
	lines := 0
	for _, statement := range body.List {
		ast.Inspect(statement, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CompositeLit:
				lines += span(fset, node) - 1
				return false
			}
			return true
		})
	}
	return lines
}

func span(fset *token.FileSet, node ast.Node) int {
	return fset.Position(node.End()).Line - fset.Position(node.Pos()).Line + 1
}

// functionName is the name as documentation writes it: Type.Method for methods.
func functionName(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	for {
		switch expression := receiver.(type) {
		case *ast.StarExpr:
			receiver = expression.X
		case *ast.IndexExpr:
			receiver = expression.X
		case *ast.IndexListExpr:
			receiver = expression.X
		case *ast.Ident:
			return expression.Name + "." + function.Name.Name
		default:
			return function.Name.Name
		}
	}
}
