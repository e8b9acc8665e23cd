/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// start is when every test begins.
var start = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)

// change is one thing that differs from a backend for which all is well.
type change func(*Facts)

// all makes one change of several.
func all(changes ...change) change {
	return func(f *Facts) {
		for _, c := range changes {
			c(f)
		}
	}
}

// managed are the facts of a managed Redis for SGLang for which all is well.
func managed() Facts {
	f := engineFacts()
	f.Backend.Spec.RemoteStorage = &v1alpha1.RemoteStorage{
		Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipManaged,
	}
	f.Endpoint = "shared.team-a.svc:6379"
	f.ServerInstance = "u1:0"
	f.Workload = &Workload{
		Kind: v1alpha1.DeploymentKindDeployment, Name: "shared", Generation: 2, ObservedGeneration: 2,
		Desired: 2, Replicas: 2, Updated: 2, Available: 2, Selector: "app.kubernetes.io/instance=shared",
	}
	f.Probe = Probe{Enabled: true, Stages: stages(StageOK, StageOK, StageOK)}
	return f
}

// hostOnly, eventsOnly, external and hiCache are those of the other shapes.
func hostOnly() Facts {
	return engineFacts()
}

func eventsOnly() Facts {
	f := engineFacts()
	f.Backend.Spec.Integration.Mode = v1alpha1.IntegrationModeEventsOnly
	return f
}

func external() Facts {
	f := engineFacts()
	f.Backend.Spec.RemoteStorage = &v1alpha1.RemoteStorage{
		Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipExternal, Endpoint: " redis.example:6379 ",
	}
	return f
}

func hiCache() Facts {
	f := engineFacts()
	f.Backend.Spec.Type = v1alpha1.CacheBackendTypeSGLangHiCache
	f.Backend.Spec.HiCache = &v1alpha1.HiCacheConfig{SizeGB: ptr.To[int32](8)}
	f.Index.HostBlocks = ptr.To[int64](12)
	return f
}

// engineFacts are those of a backend with two engines that report.
func engineFacts() Facts {
	return Facts{
		Now:       start,
		Supported: true,
		Backend: &v1alpha1.CacheBackend{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shared", UID: "backend", Generation: 3, Annotations: map[string]string{}},
			Spec: v1alpha1.CacheBackendSpec{
				Runtime:        v1alpha1.RuntimeSGLang,
				Type:           v1alpha1.CacheBackendTypeLMCache,
				Observation:    &v1alpha1.ObservationSpec{ModelID: "llama", FirstEventTimeout: &metav1.Duration{Duration: 5 * time.Minute}},
				Integration:    &v1alpha1.IntegrationSpec{Mode: v1alpha1.IntegrationModeOffload, FailOpen: ptr.To(true)},
				EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "llama"}},
			},
		},
		Index: &Index{Complete: true, Entry: &v1alpha1.CacheIndexBackend{
			Namespace: "team-a", Name: "shared", PrefixCount: 40, LastEventAt: &metav1.Time{Time: start}, Exact: true, Complete: true,
		}},
		Engines: &Engines{Matched: 2, Workloads: 1, Desired: 2, Wired: 2},
	}
}

func stages(ingest, routing, t2 StageResult) []ProbeStage {
	return []ProbeStage{
		{Name: StageIngest, Result: ingest, Message: "seen"},
		{Name: StageRouting, Result: routing, Message: "seen"},
		{Name: StageT2, Result: t2, Message: "seen"},
	}
}

// later lets time pass.
func later(d time.Duration) change {
	return func(f *Facts) { f.Now = f.Now.Add(d) }
}

func annotated(name, value string) change {
	return func(f *Facts) { f.Backend.Annotations[name] = value }
}

// silent takes the backend's engines out of the index.
func silent(f *Facts) { f.Index.Entry = nil }

// unread takes away all knowledge of the index.
func unread(f *Facts) { f.Index = nil }

// unlisted takes away all knowledge of the engines.
func unlisted(f *Facts) { f.Engines = nil }

// unprobed is a pass in which no probe was made.
func unprobed(f *Facts) { f.Probe.Stages, f.Probe.Failure = nil, "" }

// available sets how many of the store's Pods are.
func available(n int32) change {
	return func(f *Facts) { f.Workload.Available = n }
}

// outcome is what a test looks at in a verdict.
type outcome struct {
	// Conditions are <status>/<reason> by type.
	Conditions map[string]string
	// Events are <type>/<reason>.
	Events  []string
	Requeue time.Duration
}

func outcomeOf(v Verdict) outcome {
	o := outcome{Conditions: map[string]string{}, Requeue: v.RequeueAfter}
	for _, condition := range v.Status.Conditions {
		o.Conditions[condition.Type] = string(condition.Status) + "/" + condition.Reason
	}
	for _, event := range v.Events {
		o.Events = append(o.Events, event.Type+"/"+event.Reason)
	}
	return o
}

// judgement cases start from facts for which all is well, judge them once after each
// earlier change, and look at the verdict after the last.
type judgementCase struct {
	facts   func() Facts
	earlier []change
	change  change
	// conditions are those that are looked at; an empty text means that the condition
	// must be absent.
	conditions map[string]string
	events     []string
	// message is part of the message of condition messageOf, Ready if that is empty.
	messageOf, message string
	// requeue is checked unless it is zero.
	requeue time.Duration
	check   func(*testing.T, Verdict)
}

// play runs the changes of a case and returns the last verdict.
func (c judgementCase) play(t *testing.T) Verdict {
	t.Helper()
	facts := c.facts()
	for _, earlier := range c.earlier {
		earlier(&facts)
		facts.Backend.Status = judged(t, facts).Status
	}
	if c.change != nil {
		c.change(&facts)
	}
	return judged(t, facts)
}

func run(t *testing.T, cases map[string]judgementCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			verdict := tc.play(t)
			got := outcomeOf(verdict)
			for conditionType, want := range tc.conditions {
				if got.Conditions[conditionType] != want {
					t.Errorf("condition %s is %q, want %q", conditionType, got.Conditions[conditionType], want)
				}
			}
			if diff := cmp.Diff(tc.events, got.Events); diff != "" {
				t.Errorf("Events (-want +got):\n%s", diff)
			}
			if tc.requeue != 0 && got.Requeue != tc.requeue {
				t.Errorf("judged again after %s, want %s", got.Requeue, tc.requeue)
			}
			if message := messageOf(verdict, tc.messageOf); !strings.Contains(message, tc.message) {
				t.Errorf("message %q does not contain %q", message, tc.message)
			}
			if tc.check != nil {
				tc.check(t, verdict)
			}
		})
	}
}

func messageOf(v Verdict, conditionType string) string {
	if conditionType == "" {
		conditionType = v1alpha1.ConditionReady
	}
	for _, condition := range v.Status.Conditions {
		if condition.Type == conditionType {
			return condition.Message
		}
	}
	return ""
}

// readyAs are the three conditions of a backend that serves for a reason.
func readyAs(reason string) map[string]string {
	return map[string]string{
		v1alpha1.ConditionReady:       "True/" + reason,
		v1alpha1.ConditionDegraded:    "False/NotDegraded",
		v1alpha1.ConditionProgressing: "False/Synced",
	}
}

// movingFor are those of a backend on its way.
func movingFor(reason string) map[string]string {
	return map[string]string{
		v1alpha1.ConditionReady:       "False/" + reason,
		v1alpha1.ConditionDegraded:    "False/NotDegraded",
		v1alpha1.ConditionProgressing: "True/" + reason,
	}
}

// stuckFor are those of a backend that waits for somebody.
func stuckFor(reason string) map[string]string {
	return map[string]string{
		v1alpha1.ConditionReady:       "False/" + reason,
		v1alpha1.ConditionDegraded:    "True/" + reason,
		v1alpha1.ConditionProgressing: "False/Degraded",
	}
}
