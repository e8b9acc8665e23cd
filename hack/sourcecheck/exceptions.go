/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// exceptionsPath is where exceptions are listed, one a line: the rule, the
// subject and the reason, separated by blanks. A number sign starts a comment.
const exceptionsPath = "hack/sourcecheck/exceptions.txt"

// exceptions maps "rule subject" to whether it lifted anything yet.
type exceptions map[string]bool

// readExceptions reads the list. A missing file lifts nothing.
func readExceptions(path string) (exceptions, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return exceptions{}, nil
	}
	if err != nil {
		return nil, err
	}
	list := exceptions{}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		fields := strings.Fields(text)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s:%d: want a rule, a subject and a reason, have %q", exceptionsPath, number, text)
		}
		list[fields[0]+" "+fields[1]] = false
	}
	return list, nil
}

// filter drops what is excepted and adds a problem for each exception that had
// nothing to lift, so that the list never outlives its reasons.
func (e exceptions) filter(problems []problem) []problem {
	var left []problem
	for _, p := range problems {
		key := p.rule + " " + p.subject
		if _, lifted := e[key]; lifted {
			e[key] = true
			continue
		}
		left = append(left, p)
	}
	for key, used := range e {
		if !used {
			left = append(left, problem{rule: "exceptions", subject: exceptionsPath, line: 1, detail: fmt.Sprintf("%q lifts nothing, remove it", key)})
		}
	}
	return left
}
