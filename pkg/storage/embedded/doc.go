/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package embedded runs an etcd server inside the process that needs one, so
// that a single-replica API server has durable storage without an operator.
//
// What it promises:
//
//   - Start returns a server that already answers, or an error; there is no
//     half-started state to poll.
//   - Nothing listens on the network. Clients reach it through one unix socket
//     in a directory of mode 0700. There is no peer listener at all, because a
//     cluster of one has no peers.
//   - One process per directory. An exclusive lock is taken before etcd touches
//     anything, and who holds it is part of the error.
//   - A write that was acknowledged survives kill -9, a full disk and a full
//     quota. fsync is on unless a test asks for the opposite.
//   - A directory that holds another member is refused, never adopted.
//   - Free space is given back, and a full quota that old versions have filled is
//     healed, without an operator. See space.go for when, and for what it costs.
//   - Save takes one state of everything while writes go on, and Restore makes a
//     whole directory of it or none. A client never meets a revision twice.
//
// What it leaves to others: the API server compacts (two compactors would
// expire each other's watches), and Close has to be the last thing its owner
// does, after every client is gone.
//
// Multi-member clusters are out of scope on purpose: whoever needs several
// replicas brings an etcd of their own and gives its endpoints to the API server.
//
// Layout of the directory given as Config.Dir:
//
//	lock             held exclusively while the server runs; names the holder
//	etcd/identity    which member this directory belongs to
//	etcd/member/     etcd's own files
//	etcd/run/        the client socket, or a link to it when it lies elsewhere
//	etcd.restoring/  a restore that is under way or was killed
//
// This is the only package of the module that imports etcd's server.
package embedded
