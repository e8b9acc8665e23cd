/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kubectl drives a real kubectl against a real standalone server and
// compares what a user sees with the transcripts in testdata, by package
// transcript. Each transcript has a server of its own. After an intended change,
// -update writes them anew; read the diff. The same transcripts are replayed
// behind a cluster in test/e2e/cluster.
//
// The namespace is default throughout. kubectl looks other namespaces up when it
// gets a 404, and a standalone server has none to be found.
//
// The tests carry the build tag "integration" and need the kubectl of
// hack/tools/kubectl: "make test-integration" builds it and runs them.
package kubectl
