/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package certs makes the certificates of a server that runs in a cluster, without
// anything else installed there.
//
// A certificate authority lies in a Secret. Replicas create it if it is absent and
// change it only from the version they have read, so they agree on it without
// electing anybody. Serving certificates are made by each replica for itself and
// are only in its memory. They are replaced when two thirds of their life are
// over, and never outlive what signed them.
//
// The authority is replaced in three stages, such that whoever follows the bundle
// never meets a certificate that it cannot verify:
//
//   - At two thirds of its life a successor is made and put into the bundle, while
//     the old one still signs.
//   - A twelfth of its life later, and not before those who verify are seen to have
//     the bundle (Config.Published), the successor signs, and every replica makes
//     itself a new serving certificate.
//   - The old one stays in the bundle until it ends.
//
// The stage is read from the certificates alone. If the bundle cannot be published
// the old authority signs nearly to its end.
//
// A Secret that cannot be read as an authority is never written to: the error is a
// SecretError, which says what is wrong and what to do. A Secret that is deleted is
// made again with the authority that the replicas know and a successor, so deleting
// it starts a rotation and interrupts nobody. To stop trusting an authority at once,
// because its key has leaked, end all replicas before deleting the Secret.
//
// The Secret is read on a timer, not watched. Nothing in it is urgent: a replica
// that learns of a change minutes later signs with an authority that everybody still
// trusts. So the right to get and update one Secret by name suffices, and no replica
// may list Secrets. Whoever publishes the bundle calls Refresh before, so that a
// replica that is behind does not undo what another has published.
//
// Clocks are wrong at times. What was made by one that was ahead is replaced as soon as
// that shows; a replica whose clock is behind, by what the cluster has written, changes
// nothing.
//
// When the cluster does not answer, a Rotator goes on with the authority that it
// knows, and still replaces its serving certificate in time.
package certs
