/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	built := []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}}
	commit := append([]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}}, built...)
	libraries := []*debug.Module{{Path: "k8s.io/utils", Version: "v0.0.0-2026"}, {Path: "k8s.io/apiserver", Version: "v0.37.2"}}
	tests := map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"release": {
			info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.0"}, Settings: commit, Deps: libraries},
			want: "v1.2.0 (go1.26.8, linux/arm64, Kubernetes libraries v1.37.2)",
		},
		"commit": {
			info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}, Settings: commit, Deps: libraries},
			want: "devel-0123456789ab (go1.26.8, linux/arm64, Kubernetes libraries v1.37.2)",
		},
		"without version control": {info: debug.BuildInfo{GoVersion: "go1.26.8", Settings: built, Deps: libraries}, want: "devel (go1.26.8, linux/arm64, Kubernetes libraries v1.37.2)"},
		"without Kubernetes":      {info: debug.BuildInfo{GoVersion: "go1.26.8", Settings: built, Deps: libraries[:1]}, want: "devel (go1.26.8, linux/arm64)"},
		"nothing known":           {want: "devel"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := describe(&tc.info); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestThisProgram looks at what the go command notes in a binary.
func TestThisProgram(t *testing.T) {
	if got, want := Describe(), "("+runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH; !strings.Contains(got, want) || !strings.HasPrefix(got, Own()) {
		t.Errorf("got %q, want %q and %q in it", got, Own(), want)
	}
}
