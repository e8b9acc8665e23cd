/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Install registers the group with scheme: types, defaults, conversions and the
// version priority. It panics on a conflicting registration, which can only be a
// programming error. It must not run while scheme is in use.
func Install(scheme *runtime.Scheme) {
	utilruntime.Must(inferencecache.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(scheme.SetVersionPriority(v1alpha1.SchemeGroupVersion))
}
