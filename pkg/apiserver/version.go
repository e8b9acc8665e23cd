/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"
	"strings"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	basecompatibility "k8s.io/component-base/compatibility"
	baseversion "k8s.io/component-base/version"

	"inferencecache.io/inference-cache/pkg/version"
)

// Version returns the version of this program.
func Version() string {
	return version.Own()
}

// kubernetesVersion returns the Kubernetes release that the API server library
// in this binary belongs to.
func kubernetesVersion() string {
	if v := version.Kubernetes(); v != "" {
		return v
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
