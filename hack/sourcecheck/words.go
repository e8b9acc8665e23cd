/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// checkHeader compares the first lines of a source file with the header of the
// repository. Only a shebang and build constraints may stand before it.
func checkHeader(name string, content []byte, header string) []problem {
	want := headerFor(name, header)
	if want == "" {
		return nil
	}
	text := string(content)
	if filepath.Ext(name) == ".go" {
		for strings.HasPrefix(text, "//go:build ") {
			_, text, _ = strings.Cut(text, "\n")
			text = strings.TrimPrefix(text, "\n")
		}
	}
	if strings.HasPrefix(text, "#!") {
		_, text, _ = strings.Cut(text, "\n")
	}
	if strings.HasPrefix(text, want) {
		return nil
	}
	return []problem{{rule: "header", subject: name, line: 1, detail: "does not start with the header of hack/boilerplate.go.txt"}}
}

// headerFor writes the header in the comment style of a file's language, and is
// empty for files that carry none: data, documents and configuration.
func headerFor(name, header string) string {
	lines := strings.Split(strings.TrimSpace(header), "\n")
	switch extension := filepath.Ext(name); {
	case extension == ".go":
		return strings.TrimSpace(header) + "\n"
	case extension == ".sh" || extension == ".py" || name == ".ci/run":
		return "# " + strings.Join(lines[1:len(lines)-1], "\n# ") + "\n"
	default:
		return ""
	}
}

// word is a pattern that no file may contain, and why.
type word struct {
	pattern *regexp.Regexp
	reason  string
	// handWritten lifts the rule from generated files, whose words are not ours.
	handWritten bool
}

// words are written so that no pattern matches its own text.
var words = []word{
	{pattern: regexp.MustCompile(`(^|[^\w.])/(work|root|Users)/\w`), reason: "a path of somebody's machine"},
	{pattern: regexp.MustCompile(`(^|[^\w.])/home/\w+/`), reason: "a path of somebody's machine"},
	{pattern: regexp.MustCompile(`\.\./shared\b`), reason: "a path outside the repository"},
	{pattern: regexp.MustCompile(`\b(proxy\.golang|sum\.golang|registry\.npmjs|files\.pythonhosted|pypi|crates)\.(org|io)\b`), reason: "the host of a package registry"},
	{pattern: regexp.MustCompile(`\b(TO[D]O|FIX[M]E|XX[X])\b`), reason: "work that is left for later", handWritten: true},
}

// checkWords looks for what no file of the repository may say.
func checkWords(name string, content []byte, generated bool) []problem {
	var problems []problem
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		for _, word := range words {
			match := word.pattern.FindString(line)
			if match == "" || generated && word.handWritten {
				continue
			}
			problems = append(problems, problem{
				rule: "words", subject: name, line: number,
				detail: fmt.Sprintf("%q is %s", strings.TrimSpace(match), word.reason),
			})
		}
	}
	return problems
}
