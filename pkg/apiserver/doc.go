/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package apiserver composes the API server: the group inferencecache.io on the
// generic API server library, the live index behind its virtual resources, and
// the gRPC server through which engines report and routers ask.
//
// The usual steps are Config, Complete, New, Run:
//
//   - Config is filled by the caller (see options) and owns what was opened for
//     it: listeners and, when embedded, etcd.
//   - New installs the group. From there on the Server owns all of it.
//   - Run serves until its context ends and stops in the only safe order: gRPC
//     and HTTP together, then the storage clients, then etcd.
//
// What holds for every server made here:
//
//   - One storage version. Objects are in etcd as JSON of v1alpha1.
//   - Only JSON and YAML are offered, because only they work for every kind.
//   - Readiness depends on storage, never on live data: an index that knows no
//     engine is ready, and answers with complete set to false.
//   - In a cluster, admission is the cluster's own: namespaces, policies, webhooks
//     and the quotas of object counts. Readiness then depends on the rights which
//     that takes, until they have been there once (ClusterRights, RightsCheck).
//   - Scheme and codecs are made per server and handed down; nothing reaches
//     for them through package variables.
//
// The package contains no decision about objects (that is pkg/registry) and
// none about the index (pkg/index, pkg/routing). The translation between those
// two, which know nothing of each other, is in livedata.
package apiserver
