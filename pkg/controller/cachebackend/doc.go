/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cachebackend is the controller of CacheBackends. It provisions managed
// stores, deletes what a changed spec does not ask for any more, observes stores,
// engines and the live index, and writes down what package readiness makes of it.
//
// Objects are made by server-side apply under the name FieldManager. Our fields are
// repaired, fields of others are theirs. An object of a name that we need and that
// somebody else controls, or nobody, is never adopted and never changed: condition
// Ready says OwnershipConflict. Nothing is deleted that the backend does not
// control, by UID.
//
// In steady state the controller calls nobody. It reads caches that watches fill,
// and of Pods only what it needs is kept. It applies an object when either what is
// wanted or what is there has changed since it last did, and writes a status when
// that differs. Exceptions are few and by name: the Secret of a store is read every
// ten minutes and whenever the store does not work, a HiCache backend's observation
// on every look, and probes go out every 30 seconds at most.
//
// A store is probed beside the reconciler, so that one which does not answer keeps
// nobody waiting; a result is judged in the next look. Engines whose clients do not
// find a replaced store again are restarted one workload after the other. How far
// that has come stands in their templates and in the backend's status, so that the
// next leader goes on with it.
//
// Everything is looked at again after 30 seconds, after 5 while engines come and go.
// A backend that fails is tried again after 100 ms at first and 30 seconds at most,
// without holding up others.
package cachebackend
