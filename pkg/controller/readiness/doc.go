/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package readiness judges a CacheBackend: from what was observed of it, it says
// what its status is to be, which Events are due, and when to look again.
//
// Everything here is a pure function. Nothing reads a clock, a cluster or an
// environment; all of it stands in Facts, and equal facts give an equal Verdict.
// Judging again with the status of the verdict and the same facts changes nothing
// and emits nothing, so a reconcile that is repeated is harmless.
//
// What is not known is absent from the facts, and absence never makes a backend
// worse: an index that cannot be read or is still being rebuilt, a list of Pods
// that failed and a probe that could not run all leave standing what was known
// before. Absence never makes a backend better either.
//
// A backend has one Shape, which says which conditions it has at all. The gates
// that apply are asked in order, each in the file named after it: workload, KV
// events, functional probe, kernels. The first that is not satisfied gives
// condition Ready its reason. What never gates Ready (the second tier, the
// engines' compatibility) is judged beside them. Every condition carries the
// generation that it speaks of, a reason of package v1alpha1, and a message that
// says what to do if something is to be done.
//
// Cascade decides from the Pods of a store whether its engines have to be
// restarted.
package readiness
