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

// shells are the programs that take a script as one argument and pass nothing of
// what follows it to the engine.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// ReadCommandLine returns what the engine is started with. Programs are the names
// behind which its arguments begin, such as "serve": a script or a module. When none
// of them is there the arguments of the container are the engine's.
//
// It refuses a container that is started by a shell: what is appended to such a
// command line does not reach the engine.
func ReadCommandLine(container *corev1.Container, programs ...string) (*CommandLine, error) {
	all := slices.Concat(container.Command, container.Args)
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
	for _, token := range all[first:] {
		line.Args = append(line.Args, expand(token, container.Env))
	}
	return line, nil
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
// from elsewhere, stays as it is.
func expand(text string, env []corev1.EnvVar) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		if strings.HasPrefix(rest, "$$") {
			out.WriteByte('$')
			i++
			continue
		}
		name, _, closed := strings.Cut(strings.TrimPrefix(rest, "$("), ")")
		if !strings.HasPrefix(rest, "$(") || !closed {
			out.WriteByte(text[i])
			continue
		}
		value, known := literal(name, env)
		if !known {
			value = "$(" + name + ")"
		}
		out.WriteString(value)
		i += len("$()") + len(name) - 1
	}
	return out.String()
}

// literal returns the value of a variable that is given as it is.
func literal(name string, env []corev1.EnvVar) (string, bool) {
	for _, variable := range slices.Backward(env) {
		if variable.Name == name {
			return variable.Value, variable.ValueFrom == nil
		}
	}
	return "", false
}
