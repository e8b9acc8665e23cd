/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package aggregated runs the real inference-cache-apiserver behind the real
// control plane of package controlplane, for tests.
//
// An [Installation] is what an operator would make: the namespace, the rights and
// the services, the APIService, and one or several [Replica] processes. The server
// has the token of its ServiceAccount and exactly the rights of the manifests,
// never those of an administrator. What cannot be had without containers is
// replaced by what behaves alike: processes on loopback stand for Pods, a Service
// with an external name for one with endpoints and, with several replicas, a
// forwarder of connections for kube-proxy, which sends new ones to those replicas
// whose readiness probe succeeds.
//
// A replica may be stopped as the kubelet stops it, killed, and started again. It
// keeps its addresses and its data. One replica keeps objects in an etcd inside
// itself, several in one etcd that runs beside them.
//
// [Start] does everything. A test of the installation itself takes the steps of it
// by itself: [New], [Installation.Apply], [Installation.Run],
// [Installation.Register], [Installation.Await]. [Run] is for TestMain: it builds
// the programs and shares one control plane and one installation among all tests of
// a package.
//
// Everything listens on loopback, every process dies with the one that started it,
// and all files lie in one directory. No function of this package fails a test;
// errors carry the last that the servers said.
package aggregated
