/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package position says where a listing of the index goes on.
//
// A position is the last item of a page. Clients carry it as a token, so what
// comes back is outside input: Parse takes nothing that Token did not make, or
// could not have made. The package is apart from the rest of the live data
// because its fuzz target must not be built with an API server around it.
package position
