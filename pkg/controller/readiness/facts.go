/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"time"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Facts is everything that a verdict depends on. A pointer that is nil means that
// nothing is known, which differs from a value that says there is nothing. Judge
// changes none of it.
type Facts struct {
	// Now is the time of the observation.
	Now time.Time
	// Backend is the object with its defaults filled in. Its status is the one that
	// was last written and so the memory of the gates. It is never nil.
	Backend *v1alpha1.CacheBackend
	// Supported says whether the pair of runtime and type has an adapter.
	Supported bool

	// Conflict is an object that the backend needs and somebody else owns, nil when
	// there is none.
	Conflict *Conflict
	// MissingCredentials says which Secret or key cannot be read, as the start of a
	// sentence: "Secret team-a/redis has no key password". Empty when all are there.
	MissingCredentials string
	// ApplyProblem is why the API refused what was rendered, for as long as it would
	// refuse it again. A call that may succeed when repeated is no such problem.
	ApplyProblem string
	// EndpointProblem is what is wrong with the endpoint of an External store, as a
	// predicate: "must have a port". Empty when it is right or absent.
	EndpointProblem string
	// Endpoint is where a Managed store is reached, as host:port. Empty while its
	// Service was not seen.
	Endpoint string
	// ServerInstance is the baseline that Cascade returned last, once the engines
	// were restarted where it said so.
	ServerInstance string

	// Workload is what runs a Managed store, nil until it exists.
	Workload *Workload
	// Index is the backend's share of the live index, nil when it was not read.
	Index *Index
	// Engines are the engine Pods of the backend, nil when they were not listed.
	Engines *Engines
	// Probe is the functional probe.
	Probe Probe
}

// Conflict names an object that is in the way because its controller is not the
// backend.
type Conflict struct {
	// Kind and Name say which object it is. It is in the backend's namespace.
	Kind, Name string
	// Owner is the controller of it as <kind>/<name>, empty when it has none.
	Owner string
}

// Workload is the Deployment or StatefulSet of a Managed store. Counts are Pods.
type Workload struct {
	// Kind and Name say which object it is.
	Kind v1alpha1.DeploymentKind
	Name string
	// Generation is metadata.generation, ObservedGeneration what its controller has
	// seen of it.
	Generation, ObservedGeneration int64
	// Desired is the live spec.replicas, which an autoscaler may have written.
	Desired int32
	// Replicas exist, Updated of them from the present template, and Available are
	// ready for long enough.
	Replicas, Updated, Available int32
	// Overdue says that a rollout has made no progress for so long that it is not
	// expected to end by itself.
	Overdue bool
	// Trouble is what keeps a Pod of it from running, such as an image that cannot
	// be pulled. Empty when nothing is known.
	Trouble string
	// Selector selects its Pods, in string form.
	Selector string
}

// Index is what the live index says of a backend.
type Index struct {
	// Complete is false while the index as a whole is being rebuilt, so that what is
	// missing in it may exist.
	Complete bool
	// Entry is the backend's entry in CacheIndex.status.backends, nil when no engine
	// of it reports.
	Entry *v1alpha1.CacheIndexBackend
	// HostBlocks is the number of blocks in the engines' host tier, nil when it was
	// not counted.
	HostBlocks *int64
}

// Engines are the engine Pods of a backend at one look.
type Engines struct {
	// Matched is the number of Pods that the selector matches. It has no meaning for
	// a selector that claims nothing.
	Matched int32
	// Workloads is the number of workloads whose Pod templates the selector matches,
	// Desired the sum of the Pods that they are to have.
	Workloads, Desired int32
	// Wired is the number of Pods that were injected for this backend: by name and
	// by UID.
	Wired int32
	// LeftUnwired are matched Pods that could not be wired.
	LeftUnwired []PodNote
	// Kernels are the results of the kernel check in wired Pods that run it.
	Kernels []KernelCheck
	// CrashLoops are wired Pods whose engine container is in CrashLoopBackOff. The
	// note is what the container last said of its end.
	CrashLoops []PodNote
	// Layouts are the KV layouts of wired Pods, as far as they are known. Equal
	// layouts have equal notes.
	Layouts []PodNote
}

// PodNote says something of one Pod.
type PodNote struct {
	// Pod is the name of the Pod.
	Pod string
	// Note is what there is to say, for people to read.
	Note string
}

// KernelState is the outcome of a kernel check.
type KernelState string

const (
	// KernelsLoaded means that the native kernels loaded.
	KernelsLoaded KernelState = "Loaded"
	// KernelsFailed means that they did not.
	KernelsFailed KernelState = "Failed"
	// KernelsUnclear means that the check ended without a result that is known.
	KernelsUnclear KernelState = "Unclear"
	// KernelsPending means that the check has not ended.
	KernelsPending KernelState = "Pending"
)

// KernelCheck is the kernel check of one Pod.
type KernelCheck struct {
	// Pod is the name of the Pod.
	Pod string
	// Strict is the mode in which the Pod was admitted, whatever the backend says
	// now.
	Strict bool
	// State is the outcome and Message what the check said.
	State   KernelState
	Message string
}

// Probe is the functional probe of a backend.
type Probe struct {
	// Enabled is false when the manager runs without probes.
	Enabled bool
	// Stages are the results of a probe that was just made. Nil when none was made,
	// because it is not time yet or because it could not be.
	Stages []ProbeStage
	// Failure is why the probe could not be made at all. Empty otherwise.
	Failure string
}

// StageName names a stage of the functional probe.
type StageName string

// The stages, in the order in which a request passes through them.
const (
	// StageIngest is the way of an engine's event into the index.
	StageIngest StageName = "ingest"
	// StageRouting is the way of a lookup through the index.
	StageRouting StageName = "routing"
	// StageT2 is a round trip through the remote store.
	StageT2 StageName = "t2"
)

// StageResult is the outcome of a stage.
type StageResult string

const (
	// StageOK means that the stage did its work.
	StageOK StageResult = "ok"
	// StageFailed means that it was tried and did not.
	StageFailed StageResult = "failed"
	// StageSkipped means that the stage does not apply to the backend.
	StageSkipped StageResult = "skipped"
	// StageUnknown means that the stage applies and could not be tried.
	StageUnknown StageResult = "unknown"
)

// ProbeStage is the result of one stage.
type ProbeStage struct {
	// Name is the stage and Result its outcome.
	Name   StageName
	Result StageResult
	// Message says what was seen. It is cut at 512 characters.
	Message string
}
