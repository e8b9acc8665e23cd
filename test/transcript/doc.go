/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package transcript drives a real kubectl the way a user does and compares what
// the user sees with what was written down.
//
// A transcript is a text of commands, each after "$ ", and of what they print. A
// [Shell] runs the commands in order and replaces what differs between runs: times,
// ages, UIDs, versions and generated names. A command that fails ends with its
// exit code. Lines that start with "#" are comments.
//
// The commands do not know what kind of server they talk to, so that the same
// transcripts hold for one that is standalone and for one behind a cluster. Some
// of them want an engine to be seen, which [ReportEngine] plays.
package transcript
