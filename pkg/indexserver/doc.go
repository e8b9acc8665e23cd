/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package indexserver is the gRPC face of the live index: engines' sidecars
// report what they hold, routers ask who holds a prompt.
//
// # Who may call
//
// Every port speaks TLS 1.2 or newer, and every call carries a bearer token in
// the authorization metadata. The Authenticator says whose token it is, the
// Authorizer what that identity may report and ask; the package compares no
// secret itself. There is no exception: health checks, reflection and methods that do
// not exist are answered Unauthenticated like the rest, and what is no gRPC at all
// gets an HTTP status without content or a closed connection.
//
// What was decided about a token stands for 5 seconds, for a stream until its next
// review: every Config.ReviewInterval its token and its permission are decided on
// anew. Nobody being there to decide ends no stream. Questions about one token are
// one, and an address that sends wrong tokens is asked about 4 of them a second, after
// a burst of 64; so is one that asks about tenants of others. What was found good before
// is always asked about, so that neither a neighbour's mistakes cut anybody off nor
// one's own put off a review.
//
// The Authorizer says which backend a session counts for. When it learns something
// that changes that, Server.Recheck ends the sessions of a namespace that are
// concerned, with Aborted; their clients open them again.
//
// # Reports
//
// A Report stream is one session of one engine rank. It starts with a hello and
// ends when either side ends it; then the rank is suspect for the index's lease.
// A message that breaks the contract ends its stream with InvalidArgument naming
// the field, and changes nothing. A newer stream of the same rank ends the older
// one with Aborted, an older epoch is refused with FailedPrecondition, and a
// stream on which nothing was said for two leases is closed.
//
// Deltas are acknowledged as soon as no further message waits, and at the latest
// after 64 of them, so that a burst costs few answers and a lone delta no delay.
// A hole in the sequence is answered with one Resync; what comes until the
// snapshot arrives is not answered.
//
// Statistics are taken as far as they can be true: a counter that is negative,
// infinite or not a number counts as not reported, and a share above 1 as 1.
//
// # Lookups
//
// Lookups come one by one, at most MaxLookups in one call, or on a stream that
// answers them in their order; each is answered alike. Whether the caller may ask
// is decided for every tenant, and what the Authenticator and the Authorizer
// allowed stands for a few seconds.
//
// The policy's timeout and the caller's deadline bound a lookup together. Prompts
// that come as text are the only input that leaves the process: their number, size
// and time are bounded.
//
// A lookup never fails but for its token: malformed input is an answer with
// reason NO_HINT that says what is wrong. (Only what exceeds Limits.LookupBytes
// the transport refuses before anybody has read it.) The tenant ReservedTenant is for
// probes: whoever else reports for it is refused, and asks in it for a NO_HINT.
//
// # Probes
//
// A Prober connects to the server's port like everybody else, reports one block, finds
// it, and takes it away. It shows its own token, which no Authenticator knows and which
// is good for ReservedTenant only, and speaks to nobody but who shows the server's
// certificate. What it does is in no list, no total and no metric. At most
// Limits.Probes run at a time.
//
// # Health
//
// The service "" is SERVING while the server runs. The service name of
// InferenceCache is SERVING only while the index has the state of every holder,
// so that a router can prefer a replica that is warm.
package indexserver
