/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"
	"runtime/debug"
	"strings"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	basecompatibility "k8s.io/component-base/compatibility"
	baseversion "k8s.io/component-base/version"
)

// libraryPath is the module whose version says which Kubernetes we speak like.
const libraryPath = "k8s.io/apiserver"

// Version returns the version of this program: the module's version when built
// from a release, else "devel" with the commit when it is known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// kubernetesVersion returns the Kubernetes release that the API server library
// in this binary belongs to: its module version with the major raised to 1.
func kubernetesVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if rest, found := strings.CutPrefix(m.Version, "v0."); found && m.Path == libraryPath {
				return "v1." + rest
			}
		}
	}
	return "v" + baseversion.DefaultKubeBinaryVersion + ".0"
}

// effectiveVersion answers /version with a Kubernetes version, as clients
// compare it with their own, followed by ours.
type effectiveVersion struct {
	basecompatibility.EffectiveVersion
}

// WithProgramVersion returns v with the program's version in its information.
func WithProgramVersion(v basecompatibility.EffectiveVersion) basecompatibility.EffectiveVersion {
	return effectiveVersion{v}
}

// Info implements basecompatibility.EffectiveVersion.
func (v effectiveVersion) Info() *apimachineryversion.Info {
	info := v.EffectiveVersion.Info()
	if info == nil {
		return nil
	}
	// Build metadata may not contain the plus sign of a pseudo version.
	own := strings.ReplaceAll(Version(), "+", "-")
	info.GitVersion = fmt.Sprintf("%s+inference-cache-%s", kubernetesVersion(), own)
	return info
}
