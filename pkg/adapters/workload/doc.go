/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package workload makes the Kubernetes objects that run a managed store: what
// all providers share. A provider describes its server, as one container and a
// few properties; Render puts it into a Deployment or a StatefulSet behind a
// Service and adds what belongs to it.
//
// Everything here is a pure function of what is passed in. Nothing is read from a
// cluster, no argument is changed, and results share no memory with arguments, so
// that a backend may come straight from an informer's cache.
//
// Objects carry the fields that we own and no others. They are meant for
// server-side apply: what they name is repaired, what they leave out belongs to
// whoever set it, and what an earlier render named and this one does not is
// removed. For that reason a field whose absence would leave a wrong value behind
// is always written, even where it equals the default of Kubernetes.
//
// Two wishes are narrowed. A store that exists once has at most one replica and no
// autoscaler, whatever the backend says, since a second one would be a cache of
// its own behind the same Service; and it is replaced by stopping the old Pod
// first. Admission refuses both already; the clamp is for objects that were
// stored under looser rules.
package workload
