/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// problem is one broken rule. The rule and the subject together are what an
// exception names.
type problem struct {
	// rule is file-length, function-length, header or words.
	rule string
	// subject is the file, or the file and the function as "file:Function".
	subject string
	// line is where to look, counted from 1.
	line   int
	detail string
}

// String gives the form that editors and terminals turn into a link.
func (p problem) String() string {
	file, _, _ := strings.Cut(p.subject, ":")
	return fmt.Sprintf("%s:%d: %s: %s", file, p.line, p.rule, p.detail)
}

// check runs every rule on every file of the repository at root, and returns
// what is broken and not excepted, in the order of the files.
func check(root string) ([]problem, error) {
	files, err := trackedFiles(root)
	if err != nil {
		return nil, err
	}
	header, err := os.ReadFile(filepath.Join(root, "hack/boilerplate.go.txt"))
	if err != nil {
		return nil, err
	}
	allowed, err := readExceptions(filepath.Join(root, exceptionsPath))
	if err != nil {
		return nil, err
	}
	var problems []problem
	for _, name := range files {
		found, err := checkFile(root, name, string(header))
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return allowed.filter(problems), nil
}

// checkFile runs every rule that applies to one file. Recorded data is not
// ours to rewrite and binary files have no lines.
func checkFile(root, name, header string) ([]problem, error) {
	if isRecorded(name) {
		return nil, nil
	}
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, nil
	}
	generated, err := isGenerated(name, content)
	if err != nil {
		return nil, err
	}
	problems := checkWords(name, content, generated)
	if generated {
		return problems, nil
	}
	problems = append(problems, checkHeader(name, content, header)...)
	if filepath.Ext(name) == ".go" {
		sizes, err := checkSizes(name, content)
		if err != nil {
			return nil, err
		}
		problems = append(problems, sizes...)
	}
	return problems, nil
}

// isRecorded tells data that programs wrote: recordings of engines, golden files
// and the inputs that fuzzing found, and checksums.
func isRecorded(name string) bool {
	if strings.Contains(name, "/testdata/") || strings.HasSuffix(name, "go.sum") {
		return true
	}
	extension := filepath.Ext(name)
	return strings.HasPrefix(name, "test/captures/") && extension != ".go" && extension != ".md"
}

// trackedFiles lists what is in the index or new and not ignored, without what
// is deleted in the working tree.
func trackedFiles(root string) ([]string, error) {
	command := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(output), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if err == nil && info.Mode().IsRegular() {
			files = append(files, filepath.ToSlash(name))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
