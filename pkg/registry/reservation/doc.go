/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package reservation keeps a value unique among the objects of one kind, over
// any number of API servers that share an etcd.
//
// A Rule names the value that an object claims. Storage wraps the storage of the
// kind and reserves the value in the same call that writes the object: after
// validation, admission and quota, immediately before the transaction. Of any
// number of concurrent writers one gets the reservation; the others are refused
// with a field error, and nothing of theirs is written.
//
// # Why not the hooks of the generic store
//
// The store offers BeginCreate and BeginUpdate, whose finish function is to hear
// whether the write succeeded. For an update, and for a creation by PUT or by
// apply, it hears so before the transaction has been tried. Undoing a reservation
// on failure, and giving the old value free on success, need to know what
// happened; so both are done here, around the call that knows. It also covers
// every way in which an object disappears.
//
// # Protocol
//
// Two keys belong to a value: the holding names the object that claims it, and the
// guard exists while that object is being written. A writer
//
//  1. grants a lease of guardTTL and puts both keys in one transaction, if neither
//     is there; the guard hangs on the lease;
//  2. writes the object, within writeTimeout of the grant;
//  3. revokes the lease when the object is written, or deletes both keys when it
//     is certain that it was not.
//
// A holding alone proves nothing: the object it names does. Whoever finds a
// holding without a guard reads the object, past all caches. If the object claims
// the value, the newcomer is refused. If it is not there, or claims another value,
// the holding is a leftover, and is taken over by a transaction that compares the
// revisions of the holding and of the object with what was read. So a stale
// holding blocks nobody, and a claim that comes true meanwhile is never lost.
//
// Whoever finds a guard waits until it goes, for at most waitTimeout, and is then
// told to try again. Why there is a guard: between steps 1 and 2 the holding names
// an object that is not there, which looks like a leftover.
//
// # Where a server may die
//
//   - After step 1: guard and holding remain, the guard until its lease ends.
//     Then the holding is a leftover.
//   - After step 2: the object is written and holds its value. The guard ends
//     with its lease.
//   - After deleting an object, or changing its value, and before the holding is
//     dropped: it is a leftover.
//
// An outcome that is unknown (a deadline, a broken connection) is treated as a
// death after step 1, because the write may still arrive. The lease outlives
// writeTimeout by more than etcd keeps a request that its client has given up.
// The etcd server alone measures the lease, so clocks need not agree.
//
// What is not excluded: a process that stands still between steps 1 and 2 for
// longer than the lease, with its clock, as in a suspended machine. The write that
// it then makes cannot be made to depend on the guard. It finds its guard gone
// afterwards, and says so in its log if the value has another owner by then.
//
// Repair drops leftovers and reserves what objects claim without a holding, as
// after a restore from a backup. A server runs it when it starts; nothing depends
// on when.
//
// # Dry run
//
// A dry run writes nothing, and so never comes to this storage. Check answers for
// it as the write would have been answered.
package reservation
