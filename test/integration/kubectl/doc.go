/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kubectl drives a real kubectl against a real standalone server and
// compares what a user sees with transcripts in testdata.
//
// A transcript is a file of commands, each after "$ ", and of what they print.
// The test runs the commands in order, on a server of their own, and compares the
// outcome after replacing what differs between runs: times, ages, UIDs, versions
// and generated names. A command that fails ends with its exit code. After an
// intended change, -update writes the transcripts anew; read the diff.
//
// The namespace is default throughout. kubectl looks other namespaces up when it
// gets a 404, and a standalone server has none to be found.
//
// The tests carry the build tag "integration" and need the kubectl of
// hack/tools/kubectl: "make test-integration" builds it and runs them.
package kubectl
