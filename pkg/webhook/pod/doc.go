/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pod wires engine Pods to their CacheBackend when they are created.
//
// Wire is a function of a Pod and its backend: the engine's cache, the operator's
// overrides, the check of LMCache's kernels, the subscriber that reports the engine's
// events, and the annotations that say who did it. Handler answers the cluster: it
// finds the backend in a cache, wires the Pod, and returns the difference.
//
// No Pod is ever held up. Whatever goes wrong, a Pod is admitted without our changes:
// annotations that claim a wiring are taken off, and when it would have been wired
// AnnotationInjectSkipped says why it is not. Asked again about its own result,
// the webhook changes nothing.
package pod
