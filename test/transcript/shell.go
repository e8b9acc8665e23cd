/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package transcript

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Shell is where a user types.
type Shell struct {
	// Dir is the working directory, where the manifests are.
	Dir string
	// Kubectl is the program kubectl, Kubeconfig what it reads, Home an empty
	// directory for what it writes.
	Kubectl, Kubeconfig, Home string
}

// Command returns a command line that ends with the context.
func (s Shell) Command(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = s.Dir
	cmd.Env = []string{
		"HOME=" + s.Home,
		"TMPDIR=" + s.Home,
		"KUBECONFIG=" + s.Kubeconfig,
		"PATH=" + filepath.Dir(s.Kubectl) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"LC_ALL=C",
		"TZ=UTC",
	}
	return cmd
}

// Run runs a command that has to succeed and returns what it prints.
func (s Shell) Run(ctx context.Context, line string) (string, error) {
	output, err := s.Command(ctx, line).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", line, err, output)
	}
	return string(output), nil
}

// variable is what differs between two runs, and what stands for it.
var variable = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "<uid>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [+-]\d{4})`), "<time>"},
	{regexp.MustCompile(`("?resourceVersion"?: ?")\d+"`), `$1<version>"`},
	{regexp.MustCompile(`("?(observedBy|observedServer)"?: ?"?)[^",\s]+`), `$1<server>`},
	{regexp.MustCompile(`\b(lookup|question)-[a-z0-9]{5}\b`), "$1-<random>"},
	// Whether the index calls itself complete depends on how long ago it started.
	{regexp.MustCompile(`("?complete"?: ?)(true|false)`), "$1<warm>"},
	{regexp.MustCompile(`(?m)^(cluster-default .*\d) +(true|false) +\S+$`), "$1   <warm>   <server>"},
	{regexp.MustCompile(`("?durationMs"?: ?)\d+`), "$1<ms>"},
	// Ages are cells of tables: a longer one moves the cells behind it.
	{regexp.MustCompile(`(?m)(   )\d+(m\d+)?[sm]( +|$)`), "$1<age>$3"},
	{regexp.MustCompile(`<age>   +`), "<age>   "},
	{regexp.MustCompile(`(LIVE|MERGED)-\d+`), "$1"},
	{regexp.MustCompile(`(?m)^(diff -u -N|---|\+\+\+) .*$`), "$1 ..."},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
	{regexp.MustCompile(`(?m)^([IWE])\d{4} [\d:.]+ +\d+ (\w+\.go):\d+\]`), "$1 $2]"},
}

// Replay runs the commands of a transcript and returns what it would be now.
func (s Shell) Replay(ctx context.Context, transcript string) (string, error) {
	var text strings.Builder
	previous := ""
	for line := range strings.SplitSeq(transcript, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !isCommand && !strings.HasPrefix(line, "#") {
			continue
		}
		if text.Len() > 0 && !strings.HasPrefix(previous, "#") {
			text.WriteString("\n")
		}
		text.WriteString(line + "\n")
		if isCommand {
			output, err := s.replay(ctx, command)
			if err != nil {
				return "", err
			}
			text.WriteString(output)
		}
		previous = line
	}
	return text.String(), nil
}

// replay returns what a command prints, with its exit code when it fails.
func (s Shell) replay(ctx context.Context, line string) (string, error) {
	output, err := s.Command(ctx, line).CombinedOutput()
	text := string(output)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		text += fmt.Sprintf("[exit %d]\n", exit.ExitCode())
	case err != nil:
		return "", err
	}
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"), nil
}
