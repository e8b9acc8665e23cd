/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// reasons is the closed list of what a condition may give as its reason, by
// <type>=<status>.
var reasons = map[string][]string{
	"Ready=True": {"BackendReady", "KVEventsObserved", "HostOnlyActive", "EventsOnlyActive", "ExternalEndpointAccepted", "HiCacheActive"},
	"Ready=False": {
		"RolloutInProgress", "ScaledToZero", "ReplicasUnavailable", "AwaitingFirstKVEvent", "NoKVEventsObserved",
		"ProbeIngestFailed", "ProbeRoutingFailed", "ProbeT2Failed", "EngineKernelDegraded",
		"ExternalEndpointMissing", "ExternalEndpointInvalid", "OwnershipConflict", "CredentialsMissing", "AwaitingHiCacheEvents",
	},
	"Degraded=True":    {"ReplicasUnavailable", "NoKVEventsObserved", "OwnershipConflict", "CredentialsMissing"},
	"Degraded=False":   {"NotDegraded"},
	"Progressing=True": {"RolloutInProgress", "AwaitingFirstKVEvent"},
	"Progressing=False": {
		"Synced", "Degraded", "ScaledToZero",
		"ExternalEndpointAccepted", "ExternalEndpointMissing", "ExternalEndpointInvalid", "CredentialsMissing",
	},
	"FunctionalProbeOK=True":       {"ProbeOK", "ProbeBypassed"},
	"FunctionalProbeOK=False":      {"ProbeIngestFailed", "ProbeRoutingFailed", "ProbeT2Failed"},
	"FunctionalProbeOK=Unknown":    {"ProbeError"},
	"EngineKernelsHealthy=True":    {"KernelsHealthy"},
	"EngineKernelsHealthy=False":   {"KernelLoadFailed"},
	"EngineKernelsHealthy=Unknown": {"KernelCheckError", "KernelCheckPending"},
	"T2Degraded=True":              {"T2ZeroHitRate"},
	"T2Degraded=False":             {"T2Serving"},
	"EngineCompatibility=False":    {"InjectedEngineCrashLooping", "MixedKVLayouts"},
}

// eventReasons is the closed list of Events.
var eventReasons = map[string]bool{
	"Warning/BackendDegraded": true, "Normal/BackendRecovered": true,
	"Warning/FailClosedEnabled": true, "Normal/FailOpenRestored": true,
	"Normal/EngineSelectorUnmatched": true, "Normal/AwaitingFirstKVEvent": true, "Normal/KVEventsObserved": true,
	"Warning/NoKVEventsObserved": true, "Warning/InjectedEngineCrashLooping": true,
}

// advice is a word that tells somebody to do something, or what is waited for.
var advice = regexp.MustCompile(`look|check|set|correct|create|delete|raise|restart|read|use an|send|must|exist yet|available|could not be listed`)

// judged judges facts and holds the verdict to what is promised of every verdict.
func judged(t *testing.T, facts Facts) Verdict {
	t.Helper()
	before := facts.Backend.DeepCopy()
	verdict := Judge(facts)
	if diff := cmp.Diff(before, facts.Backend); diff != "" {
		t.Fatalf("Judge changed the backend (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(verdict, Judge(facts)); diff != "" {
		t.Fatalf("equal facts gave another verdict (-first +second):\n%s", diff)
	}
	if verdict.RequeueAfter <= 0 {
		t.Errorf("judged again after %s", verdict.RequeueAfter)
	}
	holdConditions(t, facts, verdict)
	holdLatches(t, before, facts, verdict)
	for _, event := range outcomeOf(verdict).Events {
		if !eventReasons[event] {
			t.Errorf("Event %s is not in the list", event)
		}
	}

	again := facts
	again.Backend = before
	again.Backend.Status = *verdict.Status.DeepCopy()
	second := Judge(again)
	if diff := cmp.Diff(verdict.Status, second.Status); diff != "" {
		t.Errorf("judging again changed the status (-first +second):\n%s", diff)
	}
	if len(second.Events) > 0 {
		t.Errorf("judging again emitted %v", second.Events)
	}
	return verdict
}

// holdConditions checks every condition of a verdict against the closed lists.
func holdConditions(t *testing.T, facts Facts, verdict Verdict) {
	t.Helper()
	for _, c := range verdict.Status.Conditions {
		if !slices.Contains(ours, c.Type) {
			continue
		}
		named := fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason)
		if !slices.Contains(reasons[fmt.Sprintf("%s=%s", c.Type, c.Status)], c.Reason) {
			t.Errorf("condition %s is not in the list", named)
		}
		if c.ObservedGeneration <= 0 || c.ObservedGeneration > facts.Backend.Generation || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %s speaks of generation %d since %s", named, c.ObservedGeneration, c.LastTransitionTime)
		}
		wrong := c.Status != metav1.ConditionTrue && c.Type == v1alpha1.ConditionReady
		if c.Message == "" || wrong && !advice.MatchString(c.Message) {
			t.Errorf("condition %s says %q, which names nothing to do", named, c.Message)
		}
		if len(c.Message) > 32768 {
			t.Errorf("the message of condition %s has %d bytes", named, len(c.Message))
		}
	}
}

// holdLatches checks that what was once seen stays seen.
func holdLatches(t *testing.T, before *v1alpha1.CacheBackend, facts Facts, verdict Verdict) {
	t.Helper()
	was, is := before.Status.FirstKVEventObservedAt, verdict.Status.FirstKVEventObservedAt
	if was != nil && !was.Equal(is) {
		t.Errorf("firstKVEventObservedAt went from %s to %v", was, is)
	}
	shape := ShapeOf(before, facts.Supported)
	sameMode := (before.Status.Endpoint != "") == (shape == ShapeManaged) && facts.Conflict == nil
	was, is = before.Status.FirstAvailableAt, verdict.Status.FirstAvailableAt
	if was != nil && shape.gatedByEvents() && sameMode && !was.Equal(is) {
		t.Errorf("firstAvailableAt went from %s to %v", was, is)
	}
}

// TestAnyStory judges backends through random stories, in which anything may be
// unknown at times.
func TestAnyStory(t *testing.T) {
	foreign := metav1.Condition{Type: "SomebodyElses", Status: metav1.ConditionTrue, Reason: "Theirs", Message: "Theirs"}
	const stories = 100
	reached, played := map[string]bool{}, 0
	for seed := range uint64(stories) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			played++
			random := rand.New(rand.NewPCG(seed, 1))
			quiet := random.IntN(3) == 0
			facts := anyShape()[random.IntN(5)]()
			facts.Backend.Status.Conditions = []metav1.Condition{foreign}
			for range 30 {
				facts = stir(random, facts)
				if facts.Index != nil && facts.Index.Entry != nil && quiet {
					facts.Index.Entry.LastEventAt = nil
				}
				before := facts.Backend.Status
				after := judged(t, facts).Status
				if silentFor(after) && !silentFor(before) && !knows(facts) {
					t.Errorf("the backend was degraded for silence without knowing the index")
				}
				if diff := cmp.Diff(foreign, after.Conditions[len(after.Conditions)-1]); diff != "" {
					t.Errorf("the condition of somebody else (-want +got):\n%s", diff)
				}
				for _, c := range after.Conditions {
					reached[fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason)] = true
				}
				facts.Backend.Status = after
			}
		})
	}
	for condition, list := range reasons {
		for _, reason := range list {
			// One story alone, as -run may ask for, need not reach all.
			if played == stories && !reached[condition+"/"+reason] {
				t.Errorf("no story reached %s/%s", condition, reason)
			}
		}
	}
}

func anyShape() []func() Facts {
	return []func() Facts{managed, hostOnly, eventsOnly, external, hiCache}
}

func knows(facts Facts) bool {
	return facts.Index != nil && facts.Index.Complete
}

// silentFor says whether a backend is degraded for want of events.
func silentFor(status v1alpha1.CacheBackendStatus) bool {
	for _, condition := range status.Conditions {
		if condition.Type == v1alpha1.ConditionDegraded {
			return condition.Reason == v1alpha1.ReasonNoKVEventsObserved
		}
	}
	return false
}

// stir changes a few facts at random.
func stir(random *rand.Rand, facts Facts) Facts {
	backend := facts.Backend.DeepCopy()
	status := backend.Status
	fresh := anyShape()
	if random.IntN(6) > 0 {
		shape := ShapeOf(backend, true)
		for _, of := range fresh {
			if next := of(); ShapeOf(next.Backend, true) == shape {
				next.Now, next.Backend = facts.Now, backend
				facts = next
				break
			}
		}
	} else {
		now := facts.Now
		facts = fresh[random.IntN(len(fresh))]()
		facts.Now, facts.Backend.Status = now, status
	}
	facts.Now = facts.Now.Add(time.Duration(random.IntN(200)) * time.Second)
	facts.Backend.Generation = max(facts.Backend.Generation, backend.Generation) + int64(random.IntN(2))
	few := func(c change) {
		if random.IntN(4) == 0 {
			c(&facts)
		}
	}
	stirSpec(random, few)
	stirStore(random, few)
	stirEngines(random, few)
	return facts
}

func stirSpec(random *rand.Rand, few func(change)) {
	few(func(f *Facts) { f.Supported = random.IntN(4) > 0 })
	few(func(f *Facts) { f.Backend.Spec.Integration.FailOpen = ptr.To(random.IntN(2) == 0) })
	few(func(f *Facts) { f.Backend.Spec.EngineSelector = nil })
	few(annotated(v1alpha1.AnnotationRequireKVEvents, []string{"false", "true", ""}[random.IntN(3)]))
	few(annotated(v1alpha1.AnnotationSkipFunctionalProbe, []string{"true", "false"}[random.IntN(2)]))
}

func stirStore(random *rand.Rand, few func(change)) {
	few(func(f *Facts) { f.Conflict = &Conflict{Kind: "Service", Name: "shared"} })
	few(func(f *Facts) { f.MissingCredentials = "Secret team-a/shared does not exist" })
	few(func(f *Facts) { f.EndpointProblem = "must have a port" })
	few(func(f *Facts) {
		if f.Backend.Spec.RemoteStorage != nil {
			f.Backend.Spec.RemoteStorage.Endpoint = ""
		}
	})
	few(func(f *Facts) { f.Endpoint = "" })
	few(func(f *Facts) { f.Workload = nil })
	few(func(f *Facts) {
		f.Workload = &Workload{
			Generation: 2, ObservedGeneration: int64(1 + random.IntN(2)), Desired: random.Int32N(3),
			Replicas: random.Int32N(3), Updated: random.Int32N(3), Available: random.Int32N(3), Overdue: random.IntN(3) == 0,
		}
	})
	results := []StageResult{StageOK, StageFailed, StageSkipped, StageUnknown}
	result := func() StageResult { return results[random.IntN(len(results))] }
	few(func(f *Facts) {
		f.Probe = Probe{Enabled: random.IntN(4) > 0, Stages: stages(result(), result(), result())}
	})
	few(func(f *Facts) { f.Probe.Stages = stages(StageOK, StageSkipped, StageFailed) })
	few(func(f *Facts) {
		f.Probe.Stages, f.Probe.Failure = nil, []string{"", "connection refused"}[random.IntN(2)]
	})
}

func stirEngines(random *rand.Rand, few func(change)) {
	few(unlisted)
	few(func(f *Facts) {
		f.Engines = &Engines{Matched: random.Int32N(3), Workloads: random.Int32N(2), Desired: random.Int32N(3), Wired: random.Int32N(3)}
		states := []KernelState{KernelsLoaded, KernelsFailed, KernelsUnclear, KernelsPending}
		for i := range random.IntN(6) {
			pod := fmt.Sprintf("engine-%d", i)
			f.Engines.Kernels = append(f.Engines.Kernels, KernelCheck{Pod: pod, Strict: random.IntN(2) == 0, State: states[random.IntN(4)], Message: "seen"})
			f.Engines.CrashLoops = append(f.Engines.CrashLoops, PodNote{Pod: pod})
			f.Engines.Layouts = append(f.Engines.Layouts, PodNote{Pod: pod, Note: fmt.Sprintf("block size %d", 16<<random.IntN(2))})
		}
	})
	few(unread)
	few(func(f *Facts) {
		f.Index = &Index{Complete: random.IntN(2) == 0}
		if random.IntN(2) == 0 {
			f.Index.Entry = &v1alpha1.CacheIndexBackend{
				PrefixCount: random.Int64N(100), Complete: random.IntN(2) == 0,
				LastEventAt: []*metav1.Time{nil, {Time: f.Now.Add(-time.Duration(random.IntN(300)) * time.Second)}}[random.IntN(2)],
				T2HitTokens: ptr.To(random.Int64N(2)), T2QueryTokens: ptr.To(random.Int64N(3)),
			}
		}
	})
}
