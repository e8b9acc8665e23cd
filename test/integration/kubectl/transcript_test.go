//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// withEngine is the transcript of a server that an engine reports to.
const withEngine = "engine"

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
	// Ages are cells of tables: a longer one moves the cells behind it.
	{regexp.MustCompile(`(?m)(   )\d+(m\d+)?[sm]( +|$)`), "$1<age>$3"},
	{regexp.MustCompile(`<age>   +`), "<age>   "},
	{regexp.MustCompile(`(LIVE|MERGED)-\d+`), "$1"},
	{regexp.MustCompile(`(?m)^(diff -u -N|---|\+\+\+) .*$`), "$1 ..."},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
	{regexp.MustCompile(`(?m)^([IWE])\d{4} [\d:.]+ +\d+ (\w+\.go):\d+\]`), "$1 $2]"},
}

// TestTranscripts replays all transcripts, each on a server of its own.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".transcript")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kubectl := newKubectl(t)
			if name == withEngine {
				startEngine(t, kubectl.server)
			}
			got := replay(t, kubectl.env(t), string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// replay runs the commands of a transcript and returns what it would be now.
// Lines that start with "#" are comments and stay; all others are output.
func replay(t *testing.T, env []string, transcript string) string {
	t.Helper()
	var text strings.Builder
	previous := ""
	for line := range strings.SplitSeq(transcript, "\n") {
		comment, isCommand := strings.HasPrefix(line, "#"), strings.HasPrefix(line, "$ ")
		if !comment && !isCommand {
			continue
		}
		if text.Len() > 0 && !strings.HasPrefix(previous, "#") {
			text.WriteString("\n")
		}
		text.WriteString(line + "\n")
		if isCommand {
			text.WriteString(run(t, env, strings.TrimPrefix(line, "$ ")))
		}
		previous = line
	}
	return text.String()
}

// run returns what a command prints, with its exit code when it fails.
func run(t *testing.T, env []string, line string) string {
	t.Helper()
	output, err := command(t.Context(), env, line).CombinedOutput()
	text := string(output)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		text += fmt.Sprintf("[exit %d]\n", exit.ExitCode())
	case err != nil:
		t.Fatal(err)
	}
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
