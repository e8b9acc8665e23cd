/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package replicas tests two replicas of the API server over one etcd behind a
// real control plane.
//
// Simulated engines report to both through the real subscriber while routers ask
// and users write. Replicas are restarted one after the other, as an upgrade does,
// and nobody may notice: no lookup fails or gets a worse answer, and whatever a
// user was told to be written is there. The replica that restarts is away in the
// meantime; an upgrade with the shipped manifests would start its successor first.
//
// The tests carry the build tag "e2e"; `make e2e` builds what they need and runs
// them.
package replicas
