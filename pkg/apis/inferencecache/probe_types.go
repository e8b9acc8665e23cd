/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProbeStageName names one step of a functional probe.
type ProbeStageName string

const (
	// ProbeStageIngest reports a block the way an engine does: a session on the
	// server's gRPC port, one report, its acknowledgement.
	ProbeStageIngest ProbeStageName = "ingest"
	// ProbeStageRouting asks for that block the way a router does: the one who
	// reported it is found, with exactly its tokens, and nobody for another prompt.
	ProbeStageRouting ProbeStageName = "routing"
)

// ProbeResult is how one step of a functional probe ended. A client takes a value
// that it does not know for unknown.
type ProbeResult string

const (
	// ProbeResultOK means that the step did what it is for.
	ProbeResultOK ProbeResult = "ok"
	// ProbeResultFailed means that the step shows a fault, which the message names.
	ProbeResultFailed ProbeResult = "failed"
	// ProbeResultSkipped means that the step was not taken, because one before it
	// did not succeed.
	ProbeResultSkipped ProbeResult = "skipped"
	// ProbeResultUnknown means that the step came to no end that says anything, as
	// when the server is stopping.
	ProbeResultUnknown ProbeResult = "unknown"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendProbe drives one block through the server that answers: in by the
// path of the engines, out by the path of the routers. It is created as the
// subresource probe of a CacheBackend to get its status, and never stored. What it
// reports belongs to a tenant of its own, is seen by nobody else, and is gone when
// the answer is there.
type CacheBackendProbe struct {
	metav1.TypeMeta
	// ObjectMeta names the CacheBackend. It may be left out of a request. A UID in
	// it is a precondition: the CacheBackend has to be that one.
	metav1.ObjectMeta
	// Status is what the probe found.
	Status CacheBackendProbeStatus
}

// CacheBackendProbeStatus is what a functional probe found.
type CacheBackendProbeStatus struct {
	// ObservedBy is the server replica that was probed. Each answers for itself.
	ObservedBy string
	// AsOf is when the probe ended.
	AsOf *metav1.MicroTime
	// Complete is false while sessions that the server expects are still being
	// rebuilt. The probe does not depend on it.
	Complete bool
	// Stages are the steps in the order in which they are taken.
	Stages []ProbeStage
}

// ProbeStage is one step of a functional probe.
type ProbeStage struct {
	// Name says which step it is.
	Name ProbeStageName
	// Result is how the step ended.
	Result ProbeResult
	// Message says in one line why the step did not succeed. Empty when it did.
	Message string
	// DurationMs is how long the step took, in whole milliseconds.
	DurationMs int64
}
