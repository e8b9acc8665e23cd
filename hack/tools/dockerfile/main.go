/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command dockerfile reads a Dockerfile from standard input with BuildKit's own
// parser and writes its stages to standard output as JSON. What BuildKit would
// refuse or warn of before it builds anything is an error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// stage is one FROM and what follows it.
type stage struct {
	// Name is what other stages and --target call it.
	Name string `json:"name"`
	// From is the image or stage that it starts with, Platform that of the image.
	From     string `json:"from"`
	Platform string `json:"platform,omitempty"`
	// Steps are its instructions.
	Steps []step `json:"steps"`
}

// step is one instruction.
type step struct {
	// Name is the instruction, in lower case.
	Name string `json:"name"`
	// Text is all of it, as it was written.
	Text string `json:"text"`
	// Words are the arguments of RUN and ENTRYPOINT, and the sources and the
	// destination of COPY.
	Words []string `json:"words,omitempty"`
	// From is the stage that COPY copies from.
	From string `json:"from,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dockerfile:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	parsed, err := parser.Parse(in)
	if err != nil {
		return err
	}
	var complaints []error
	for _, w := range parsed.Warnings {
		complaints = append(complaints, errors.New(w.Short))
	}
	lint := linter.New(&linter.Config{Warn: func(rule, description, _, message string, where []parser.Range) {
		line := 0
		if len(where) > 0 {
			line = where[0].Start.Line
		}
		complaints = append(complaints, fmt.Errorf("line %d: %s: %s (%s)", line, rule, message, description))
	}})
	stages, _, err := instructions.Parse(parsed.AST, lint)
	if err = errors.Join(append(complaints, err)...); err != nil {
		return err
	}
	described := make([]stage, 0, len(stages))
	for i := range stages {
		s := stage{Name: stages[i].Name, From: stages[i].BaseName, Platform: stages[i].Platform}
		for _, command := range stages[i].Commands {
			s.Steps = append(s.Steps, describe(command))
		}
		described = append(described, s)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(described)
}

func describe(command instructions.Command) step {
	s := step{Name: strings.ToLower(command.Name())}
	if stringer, ok := command.(fmt.Stringer); ok {
		s.Text = stringer.String()
	}
	switch c := command.(type) {
	case *instructions.RunCommand:
		s.Words = c.CmdLine
	case *instructions.EntrypointCommand:
		s.Words = c.CmdLine
	case *instructions.CopyCommand:
		s.Words = append(append(s.Words, c.SourcePaths...), c.DestPath)
		s.From = c.From
	case *instructions.UserCommand:
		s.Words = []string{c.User}
	}
	return s
}
