/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package soak lets the whole system live for a while and looks all the time
// whether it still tells the truth.
//
// Two API servers share an etcd. Eight simulated engines with small caches speak
// on real sockets, each with a subscriber process that reports to both servers,
// and serve conversations that share their beginnings, so that blocks are stored,
// copied and evicted without end. Requests go where a server says. Meanwhile
// subscribers and servers are killed with SIGKILL, engines start anew or clear
// their caches, messages are lost, some of them for good.
//
// From time to time the load pauses until everything that engines have said has
// arrived. At such a quiet point every answer of both servers about every engine
// is compared with what that engine would reuse: an answer that calls itself
// exact has to be that number, no answer may be higher, and both servers have to
// list the same blocks. In the end their observations have to be equal too, and
// their memory must not have grown for ever.
//
// The tests have the build tag integration. There they run for seconds, so that
// they cannot rot; make soak runs them for minutes.
package soak
