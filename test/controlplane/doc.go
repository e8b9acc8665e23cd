/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controlplane starts a real Kubernetes control plane for tests: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, and kwok in place of
// nodes and kubelets.
//
// A [Cluster] is whole in a few seconds. Pods are scheduled and become ready, so
// that Deployments become Available, but nothing runs in them. The aggregation
// layer is on: an APIService is routed to the external name of its Service, and
// what is behind it can trust the request headers of the proxy. Admission,
// garbage collection, namespace deletion, quota and RBAC are Kubernetes' own.
//
// Everything listens on a free port of loopback, with certificates and a token
// made for this one cluster. The authorities of the clients, of the aggregation
// proxy and of etcd are three, so that nobody can pass for somebody else.
//
// Everything that a cluster writes lies in one directory, which goes when the
// cluster goes. Nothing of it is worth saving, so stopping means killing, by
// process id and never by name. A cluster dies with the process that started it
// unless it was told to outlive it; then [Running] and [End] find it again by its
// directory.
//
// The programs come from hack/tools/controlplane. Tests with the build tag e2e
// start a cluster; `make test-controlplane` builds the programs and runs them.
package controlplane
