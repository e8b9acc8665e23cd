/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package enginepod tells in Events what the Pod webhook has decided about a new
// Pod. The webhook itself cannot: a Pod has no UID when it is asked about it.
//
// The decision stands in annotations, which the webhook takes off every Pod whose
// owner wrote them. Where the webhook was not asked they prove nothing; that a Pod
// was wired is therefore only told when the backend that it names exists, with the
// UID that it gives.
//
// Each Pod is told of once, when it is new. Pods that are older than MaxAge were told
// of before, or nobody looks for it any more, so a manager that starts does not tell
// of all Pods of the cluster again.
package enginepod
