//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/programs"
)

// stage is a part of the Dockerfile, as hack/tools/dockerfile tells it.
type stage struct {
	Name, From, Platform string
	Steps                []struct {
		Name, Text string
		Words      []string
		From       string
	}
}

// dockerfile reads the Dockerfile with BuildKit's parser, which also warns.
func dockerfile(t *testing.T) (repository string, stages map[string]stage) {
	t.Helper()
	repository, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := exec.CommandContext(t.Context(), filepath.Join(repository, "hack", "tool.sh"), "dockerfile").Output()
	if err != nil {
		t.Fatalf("build the reader of Dockerfiles: %v", err)
	}
	content, err := os.Open(filepath.Join(repository, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	cmd := exec.CommandContext(t.Context(), filepath.Join(strings.TrimSpace(string(tools)), "dockerfile"))
	var failure bytes.Buffer
	cmd.Stdin, cmd.Stderr = content, &failure
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("Dockerfile: %v\n%s", err, failure.String())
	}
	var list []stage
	if err := json.Unmarshal(output, &list); err != nil {
		t.Fatal(err)
	}
	stages = map[string]stage{}
	for _, s := range list {
		stages[s.Name] = s
	}
	return repository, stages
}

// words returns the words of the last instruction of a name in a stage or in what
// it starts from, and its stage to copy from.
func words(stages map[string]stage, name, instruction string) (found []string, from string) {
	for s, ok := stages[name]; ok; s, ok = stages[s.From] {
		for _, step := range slices.Backward(s.Steps) {
			if step.Name == instruction {
				return step.Words, step.From
			}
		}
	}
	return nil, ""
}

// TestImages holds that the images are what the manifests expect to run.
func TestImages(t *testing.T) {
	_, stages := dockerfile(t)
	pod := &template(t, objects(t, "base")).Spec
	user := strconv.FormatInt(*pod.SecurityContext.RunAsUser, 10) + ":" + strconv.FormatInt(*pod.SecurityContext.RunAsGroup, 10)
	tests := map[string]string{
		"apiserver":          "/usr/local/bin/inference-cache-apiserver",
		"manager":            "/usr/local/bin/inference-cache-manager",
		"kvevent-subscriber": "/usr/local/bin/kvevent-subscriber",
	}
	for name, program := range tests {
		t.Run(name, func(t *testing.T) {
			if _, ok := stages[name]; !ok {
				t.Fatal("no such target")
			}
			if got, _ := words(stages, name, "user"); !slices.Equal(got, []string{user}) {
				t.Errorf("runs as %v, and the manifests want %s", got, user)
			}
			if got, _ := words(stages, name, "entrypoint"); !slices.Equal(got, []string{program}) {
				t.Errorf("starts %v, want %s", got, program)
			}
			copied, from := words(stages, name, "copy")
			build, _ := words(stages, from, "run")
			if len(copied) != 2 || copied[1] != program || len(build) != 1 || !strings.Contains(build[0], " -o "+copied[0]+" ") {
				t.Errorf("copies %v of stage %q, which builds %q", copied, from, build)
			}
			last := stages[name]
			for next, ok := stages[last.From]; ok; next, ok = stages[last.From] {
				last = next
			}
			if !strings.HasPrefix(last.From, "gcr.io/distroless/static-") || !strings.HasSuffix(last.From, ":nonroot") {
				t.Errorf("made of %s, want an image with nothing in it that runs as nobody", last.From)
			}
		})
	}
}

// TestBaseImages holds that a build tomorrow uses what a build today does, as far
// as tags can say.
func TestBaseImages(t *testing.T) {
	repository, stages := dockerfile(t)
	for name, s := range stages {
		if _, ours := stages[s.From]; ours {
			continue
		}
		if _, tag, _ := strings.Cut(s.From, ":"); tag == "" || tag == "latest" {
			t.Errorf("stage %s starts from %s, without a tag", name, s.From)
		}
	}
	module, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, needed, _ := strings.Cut(string(module), "\ngo ")
	needed, _, _ = strings.Cut(needed, "\n")
	compiler, _, _ := strings.Cut(strings.TrimPrefix(stages["build"].From, "golang:"), "-")
	if version.Compare("go"+compiler, "go"+needed) < 0 {
		t.Errorf("images are built with Go %s, and go.mod needs %s", compiler, needed)
	}
}

// TestDockerfileBuilds runs what the build stages run, here: the programs are
// compiled as in the images, stand alone and start. Only -trimpath is left out,
// which would have all that was ever compiled here compiled anew.
func TestDockerfileBuilds(t *testing.T) {
	repository, stages := dockerfile(t)
	for name, s := range stages {
		if s.From != "build" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			command, _ := words(stages, name, "run")
			out := t.TempDir()
			here := strings.Replace(strings.ReplaceAll(command[0], "/out/", out+"/"), " -trimpath", "", 1)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", here)
			cmd.Dir = repository
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH)
			if output, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command[0], err, output)
			}
			built, err := os.ReadDir(out)
			if err != nil || len(built) != 1 {
				t.Fatalf("built %v, want one program: %v", built, err)
			}
			program := filepath.Join(out, built[0].Name())
			if runtime.GOOS == "linux" {
				checkStatic(t, program)
			}
			if output, err := exec.CommandContext(t.Context(), program, "--help").CombinedOutput(); err != nil {
				t.Errorf("%s --help: %v\n%s", built[0].Name(), err, output)
			}
		})
	}
}

// checkStatic holds that a program needs nothing of the image that it is in.
func checkStatic(t *testing.T, program string) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			t.Error("the program needs a dynamic linker")
		}
	}
}

// TestDockerContext holds that nothing of the repository is missing in the build,
// which would mark the programs as built from changed sources.
func TestDockerContext(t *testing.T) {
	repository, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	patterns := func(file string) (all []string) {
		content, err := os.ReadFile(filepath.Join(repository, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, line)
			}
		}
		return all
	}
	if diff := cmp.Diff(patterns(".gitignore"), patterns(".dockerignore")); diff != "" {
		t.Errorf(".dockerignore leaves out something else than .gitignore (-git +docker):\n%s", diff)
	}
}
