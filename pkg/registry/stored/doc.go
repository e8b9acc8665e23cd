/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package stored builds the REST storage of kinds that live in etcd.
//
// A kind says what is its own (types, strategies, selectable fields, columns)
// in a Kind; New makes the storage of the main resource from it and NewStatus
// that of its status subresource. What both promise is the same for all kinds:
//
//   - POST, PUT and server-side apply create objects. A PUT or an apply that
//     names a resourceVersion means an object that existed, and is never
//     turned into the creation of a new one.
//   - A write to the main resource keeps the status, a write to the status
//     keeps everything else, and managed fields record only what was kept.
//   - The generation grows when, and only when, the spec changes.
//   - An update is refused for what it breaks, not for what was broken before.
//   - Delete is never refused.
//   - A value that the kind calls unique belongs to one object, whoever writes
//     where (see package reservation). A dry run is told so as well.
//
// The package holds no state besides the stores it makes and knows no kind.
package stored
