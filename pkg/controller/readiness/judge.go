/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Judge returns the verdict on a backend. It is deterministic, changes none of the
// facts and may be called concurrently.
func Judge(facts Facts) Verdict {
	j := begin(facts)
	j.participate()
	j.countEngines()
	j.echoFailOpen()
	j.locate()

	switch j.shape {
	case ShapeUnsupported:
	case ShapeExternal:
		j.publish(j.external())
	case ShapeHiCache:
		j.publish(j.hiCache())
	default:
		j.publish(j.gates())
	}
	if j.shape != ShapeUnsupported {
		j.judgeT2()
		j.judgeCompatibility()
	}
	j.status.Conditions = j.conditions.list()
	return Verdict{Status: j.status, Events: j.events, RequeueAfter: j.requeueAfter()}
}

// ProbeDue says whether a functional probe of the backend would mean something now:
// probes are on, nobody opted out, and all gates before it are satisfied. How often
// to probe is left to the caller.
func ProbeDue(facts Facts) bool {
	j := begin(facts)
	if !j.probed() || j.probeBypassed() {
		return false
	}
	j.participate()
	j.locate()
	return j.eventGate(j.workload()).ready
}

// judgement is a verdict in the making.
type judgement struct {
	facts   Facts
	backend *v1alpha1.CacheBackend
	shape   Shape
	// before is the status that was last written.
	before *v1alpha1.CacheBackendStatus
	// flipped says that the backend has gained or lost its store since, so that its
	// first event is waited for anew.
	flipped bool

	now        metav1.Time
	status     v1alpha1.CacheBackendStatus
	conditions conditionSet
	events     []Event
	// deadline is how long until a gate gives up waiting, zero when none waits.
	deadline time.Duration
}

func begin(facts Facts) *judgement {
	j := &judgement{
		facts:   facts,
		backend: facts.Backend,
		shape:   ShapeOf(facts.Backend, facts.Supported),
		before:  &facts.Backend.Status,
		// The API keeps seconds, and what is written has to equal what is read.
		now:    metav1.NewTime(facts.Now.Truncate(time.Second)),
		status: *facts.Backend.Status.DeepCopy(),
	}
	j.conditions = newConditionSet(j.before.Conditions, j.shape, j.backend.Generation, j.now)
	j.flipped = j.before.FirstAvailableAt != nil && (j.before.Endpoint != "") != (j.shape == ShapeManaged)
	j.status.ObservedGeneration = j.backend.Generation
	return j
}

// gates asks every gate in turn.
func (j *judgement) gates() standing {
	s := j.base()
	s = j.eventGate(s)
	s = j.probeGate(s)
	return j.kernelGate(s)
}

// base is where a backend stands before its engines are asked.
func (j *judgement) base() standing {
	switch j.shape {
	case ShapeEventsOnly:
		return serving(v1alpha1.ReasonEventsOnlyActive, "Engines are wired for routing alone; nothing is provisioned")
	case ShapeHostOnly:
		return serving(v1alpha1.ReasonHostOnlyActive, "Blocks stay on the engines' hosts; nothing is provisioned")
	default:
		return j.workload()
	}
}

// locate fills in what the status says of the store itself.
func (j *judgement) locate() {
	j.status.Endpoint, j.status.Replicas, j.status.Selector, j.status.ObservedServerInstance = "", 0, "", ""
	if !j.shape.gatedByEvents() || j.flipped {
		j.status.FirstAvailableAt = nil
	}
	switch j.shape {
	case ShapeExternal:
		if j.facts.EndpointProblem == "" {
			j.status.Endpoint = externalEndpoint(j.backend)
		}
	case ShapeManaged:
		j.status.Endpoint = j.managedEndpoint()
		j.status.ObservedServerInstance = j.facts.ServerInstance
		if w := j.facts.Workload; w != nil {
			j.status.Replicas, j.status.Selector = w.Replicas, w.Selector
		}
	}
}

// managedEndpoint is where engines reach the store. A Service that is somebody
// else's is no such place, and engines that were kept from theirs get their time to
// report anew. A Service that is merely not seen stands as it did.
func (j *judgement) managedEndpoint() string {
	switch {
	case j.facts.Conflict != nil:
		j.status.FirstAvailableAt = nil
		return ""
	case j.facts.Endpoint == "" && j.status.FirstAvailableAt != nil:
		return j.before.Endpoint
	default:
		return j.facts.Endpoint
	}
}

// echoFailOpen repeats what engines do without their cache, and tells of a change.
func (j *judgement) echoFailOpen() {
	open := failOpenOf(j.backend)
	j.status.FailOpen = ptr.To(open)
	was := ptr.Deref(j.before.FailOpen, true)
	switch {
	case was && !open:
		j.warn(EventFailClosedEnabled, "spec.integration.failOpen is false: engines fail requests whose cached blocks "+
			"cannot be loaded. Set it to true unless the cache must be a serving dependency")
	case !was && open:
		j.tell(EventFailOpenRestored, "spec.integration.failOpen is true: engines compute prompts themselves when the cache fails")
	}
}

// requeueAfter is when something may have changed without being noticed.
func (j *judgement) requeueAfter() time.Duration {
	after := SteadyInterval
	if e := j.facts.Engines; e != nil && selects(j.backend) && e.Workloads > 0 && e.Matched != e.Desired {
		after = ChurnInterval
	}
	if j.deadline > 0 {
		after = min(after, j.deadline)
	}
	return after
}
