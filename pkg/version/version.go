/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package version

import (
	"runtime/debug"
	"slices"
	"strings"
)

// unknown is the version of a build that does not know what it was made of.
const unknown = "devel"

// commitDigits is how much of a commit is told.
const commitDigits = 12

// Own returns the version of this program, such as v1.2.0, or devel with the commit
// when that is known.
func Own() string {
	return ownOf(info())
}

// Kubernetes returns the release that the Kubernetes libraries in this program
// belong to, such as v1.37.2, and nothing when it has none of those that are
// released with Kubernetes.
func Kubernetes() string {
	return kubernetesOf(info())
}

// Describe returns Own with what else a report of a bug should say: the Go release,
// the platform and the release of the Kubernetes libraries.
func Describe() string {
	return describe(info())
}

// info is empty when the binary was not built by the go command from a module.
func info() *debug.BuildInfo {
	if read, ok := debug.ReadBuildInfo(); ok {
		return read
	}
	return &debug.BuildInfo{}
}

func ownOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if commit := setting(info, "vcs.revision"); len(commit) >= commitDigits {
		return unknown + "-" + commit[:commitDigits]
	}
	return unknown
}

// kubernetesOf looks at one library of each kind of program: the libraries of a
// release have its version with a 0 in front instead of the 1.
func kubernetesOf(info *debug.BuildInfo) string {
	libraries := []string{"k8s.io/apiserver", "k8s.io/client-go", "k8s.io/apimachinery"}
	for _, module := range info.Deps {
		if rest, ok := strings.CutPrefix(module.Version, "v0."); ok && slices.Contains(libraries, module.Path) {
			return "v1." + rest
		}
	}
	return ""
}

func describe(info *debug.BuildInfo) string {
	var about []string
	for _, part := range []struct{ before, value string }{
		{"", info.GoVersion},
		{"", platform(info)},
		{"Kubernetes libraries ", kubernetesOf(info)},
	} {
		if part.value != "" {
			about = append(about, part.before+part.value)
		}
	}
	if len(about) == 0 {
		return ownOf(info)
	}
	return ownOf(info) + " (" + strings.Join(about, ", ") + ")"
}

// platform is what the program was built for, such as linux/amd64.
func platform(info *debug.BuildInfo) string {
	system, architecture := setting(info, "GOOS"), setting(info, "GOARCH")
	if system == "" || architecture == "" {
		return ""
	}
	return system + "/" + architecture
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
