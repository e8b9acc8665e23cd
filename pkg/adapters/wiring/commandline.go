/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// CommandLine is the part of a container's command and arguments that the engine's
// parser reads.
type CommandLine struct {
	// Args are the arguments, with the variables of the container that are known
	// put in as the kubelet does.
	Args []string

	container *corev1.Container
	// first is the place of Args[0] in command and arguments together.
	first int
}

// What is read of a command line. A system starts no program with an argument of
// maxText bytes, and no engine has a hundredth of maxItems. Beyond them a Pod is not
// looked into: variables that are put into each other grow without bounds.
const (
	maxItems = 4 << 10
	maxText  = 128 << 10
)

// shells are the programs that take a script as one argument and pass nothing of
// what follows it to the engine.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// ReadCommandLine returns what the engine is started with. Programs are the names
// behind which its arguments begin, such as "serve": a script or a module. When none
// of them is there the arguments of the container are the engine's.
//
// It refuses a container that is started by a shell, since what is appended to such a
// command line does not reach the engine, and one whose command line is too long.
func ReadCommandLine(container *corev1.Container, programs ...string) (*CommandLine, error) {
	all := slices.Concat(container.Command, container.Args)
	if len(all) > maxItems || textOf(all) > maxText {
		return nil, tooLong(container)
	}
	if script := shellScript(all); script >= 0 && (script > 0 || len(container.Command) == 0) {
		return nil, Refuse(ReasonShellCommand,
			"container %s starts its engine in a shell, which arguments cannot be added to; write the engine's program and its flags as separate items of command and args",
			container.Name)
	}
	first := len(container.Command)
	for i, token := range all {
		if slices.Contains(programs, path.Base(token)) {
			first = i + 1
		}
	}
	line := &CommandLine{container: container, first: first}
	known, left := literals(container.Env), maxText
	for _, token := range all[first:] {
		text, fits := expand(token, known, left)
		if !fits {
			return nil, tooLong(container)
		}
		line.Args = append(line.Args, text)
		left -= len(text)
	}
	return line, nil
}

// textOf returns the length of all texts together.
func textOf(texts []string) (length int) {
	for _, text := range texts {
		length += len(text)
	}
	return length
}

func tooLong(container *corev1.Container) error {
	return Refuse(ReasonEngineArguments,
		"command and args of container %s have more than %d items or %d bytes, variables included; shorten them", container.Name, maxItems, maxText)
}

// shellScript returns the place of a shell's script option among tokens, or -1. The
// image's own entrypoint may be the shell, so that the option stands first.
func shellScript(tokens []string) int {
	for i, token := range tokens {
		before := i > 0 && slices.ContainsFunc(tokens[:i], func(t string) bool { return slices.Contains(shells, path.Base(t)) })
		if isScriptOption(token) && (i == 0 || before) {
			return i
		}
	}
	return -1
}

// isScriptOption recognises -c, alone or among other single letters.
func isScriptOption(token string) bool {
	letters, option := strings.CutPrefix(token, "-")
	return option && len(letters) <= 4 && strings.HasSuffix(letters, "c") && !strings.HasPrefix(letters, "-")
}

// Append adds arguments at the end.
func (l *CommandLine) Append(args ...string) {
	l.container.Args = append(slices.Clip(l.container.Args), args...)
	l.Args = append(l.Args, args...)
}

// Replace puts a text in the place of Args[i], which stands in the container's
// command or in its arguments.
func (l *CommandLine) Replace(i int, text string) {
	l.Args[i] = text
	at := l.first + i
	if at < len(l.container.Command) {
		l.container.Command[at] = text
		return
	}
	l.container.Args[at-len(l.container.Command)] = text
}

// expand puts variables in as the kubelet does: $(NAME) becomes the value of a
// variable that is known, $$ stands for $. What is not known here, because it comes
// from elsewhere, stays as it is. It returns false instead of a text of more bytes
// than the limit.
func expand(text string, known map[string]string, limit int) (string, bool) {
	var out strings.Builder
	closable := true // no reference is looked for twice that does not end
	for out.Len() <= limit {
		plain, rest, found := strings.Cut(text, "$")
		out.WriteString(plain)
		if !found {
			break
		}
		text = rest
		if after, escaped := strings.CutPrefix(rest, "$"); escaped {
			out.WriteByte('$')
			text = after
			continue
		}
		if reference, opened := strings.CutPrefix(rest, "("); opened && closable {
			var name, after string
			if name, after, closable = strings.Cut(reference, ")"); closable {
				value, is := known[name]
				if !is {
					value = "$(" + name + ")"
				}
				out.WriteString(value)
				text = after
				continue
			}
		}
		out.WriteByte('$')
	}
	return out.String(), out.Len() <= limit
}

// literals returns the variables that are given as they are. The last of several
// counts.
func literals(env []corev1.EnvVar) map[string]string {
	known := map[string]string{}
	for i := range env {
		if env[i].ValueFrom != nil {
			delete(known, env[i].Name)
			continue
		}
		known[env[i].Name] = env[i].Value
	}
	return known
}
