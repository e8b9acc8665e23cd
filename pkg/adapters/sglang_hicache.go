/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// sglangHiCache is SGLang with its own hierarchical cache, which lives in the
// engine and is configured by flags alone: nothing is provisioned, and no
// process could fail closed without it.
func sglangHiCache() Engine {
	return Engine{
		Runtime:       v1alpha1.RuntimeSGLang,
		Type:          v1alpha1.CacheBackendTypeSGLangHiCache,
		Bindings:      []Binding{BindingHostOnly},
		Modes:         []v1alpha1.IntegrationMode{v1alpha1.IntegrationModeOffload},
		Roles:         []v1alpha1.IntegrationRole{v1alpha1.IntegrationRoleReadWrite},
		NeedsSelector: true,
		// SGLang completes abbreviated flags, so that the whole family is kept.
		ReservedArgs: []string{"--enable-hierarchical-cache", "--hicache-*"},
	}
}
