/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package version says what a program was built from. It reads what the go command
// has noted in the binary, so nothing has to be passed to a build: one in a clone of
// the repository has the tag or the commit, and one of a released module its version.
//
// Of a build that was told to leave version control alone (-buildvcs=false, as make
// does) it knows nothing and says "devel".
package version
