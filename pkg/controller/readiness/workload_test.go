/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestWorkloadGate(t *testing.T) {
	ready := managed
	run(t, map[string]judgementCase{
		"BackendReady: both gates are off": {
			facts: ready,
			change: all(annotated(v1alpha1.AnnotationRequireKVEvents, "false"), func(f *Facts) {
				f.Probe = Probe{}
			}),
			conditions: readyAs("BackendReady"),
			message:    "2/2 replicas available",
		},
		"RolloutInProgress: the first apply": {
			facts:      ready,
			change:     func(f *Facts) { f.Workload, f.Endpoint = nil, "" },
			conditions: movingFor("RolloutInProgress"),
			message:    "does not exist yet",
			check:      neverAvailable,
		},
		"RolloutInProgress: the Service is missing": {
			facts:      ready,
			change:     func(f *Facts) { f.Endpoint = "" },
			conditions: movingFor("RolloutInProgress"),
			message:    "Service",
			check:      neverAvailable,
		},
		"RolloutInProgress: the generation was not observed": {
			facts:      ready,
			earlier:    []change{nothing},
			change:     func(f *Facts) { f.Workload.Generation++ },
			conditions: movingFor("RolloutInProgress"),
			message:    "2/2 replicas available",
		},
		"RolloutInProgress: updated replicas are short": {
			facts:      ready,
			earlier:    []change{nothing},
			change:     func(f *Facts) { f.Workload.Updated = 1 },
			conditions: movingFor("RolloutInProgress"),
		},
		"RolloutInProgress: available replicas are short in the first rollout": {
			facts:      ready,
			change:     available(1),
			conditions: movingFor("RolloutInProgress"),
			message:    "1/2 replicas available",
		},
		"RolloutInProgress: it stays so until Pods are available": {
			facts:      ready,
			earlier:    []change{nothing, func(f *Facts) { f.Workload.Updated, f.Workload.Available = 0, 0 }},
			change:     func(f *Facts) { f.Workload.Updated = 2 },
			conditions: movingFor("RolloutInProgress"),
		},
		"RolloutInProgress: an autoscaler wants more Pods": {
			facts:      ready,
			earlier:    []change{nothing},
			change:     func(f *Facts) { f.Workload.Desired, f.Workload.Replicas, f.Workload.Updated = 4, 4, 4 },
			conditions: movingFor("RolloutInProgress"),
			message:    "2/4 replicas available",
		},
		"RolloutInProgress: an image that cannot be pulled is named": {
			facts: ready,
			change: all(available(0), func(f *Facts) {
				f.Workload.Trouble = "Pod shared-1 is in ImagePullBackOff"
			}),
			conditions: movingFor("RolloutInProgress"),
			message:    "0/2 replicas available: Pod shared-1 is in ImagePullBackOff",
		},
		"RolloutInProgress: the API refuses a template": {
			facts:      ready,
			earlier:    []change{nothing},
			change:     func(f *Facts) { f.ApplyProblem = `unknown runtime class "x"` },
			conditions: movingFor("RolloutInProgress"),
			message:    `correct the spec or what refuses it: unknown runtime class "x"`,
		},
		"RolloutInProgress: out of zero": {
			facts:      ready,
			earlier:    []change{nothing, func(f *Facts) { f.Workload.Desired, f.Workload.Replicas, f.Workload.Available = 0, 0, 0 }},
			change:     func(f *Facts) { f.Workload.Desired, f.Workload.Replicas = 1, 1 },
			conditions: movingFor("RolloutInProgress"),
		},
		"ReplicasUnavailable: a Pod of a store that was up is lost": {
			facts:      ready,
			earlier:    []change{nothing},
			change:     available(0),
			conditions: stuckFor("ReplicasUnavailable"),
			events:     []string{"Warning/BackendDegraded"},
			message:    "look at kubectl describe deployment/shared",
		},
		"ReplicasUnavailable: the rollout is overdue": {
			facts: ready,
			change: all(available(0), func(f *Facts) {
				f.Workload.Overdue, f.Workload.Kind = true, v1alpha1.DeploymentKindStatefulSet
			}),
			conditions: stuckFor("ReplicasUnavailable"),
			events:     []string{"Warning/BackendDegraded"},
			message:    "statefulset/shared",
		},
		"ReplicasUnavailable: a Pod of a StatefulSet does not start": {
			facts: ready,
			change: all(available(1), func(f *Facts) {
				f.Workload.Kind, f.Workload.Trouble = v1alpha1.DeploymentKindStatefulSet, "Pod shared-1 is in ImagePullBackOff"
			}),
			conditions: stuckFor("ReplicasUnavailable"),
			events:     []string{"Warning/BackendDegraded"},
			message:    "1/2 replicas available: Pod shared-1 is in ImagePullBackOff; look at",
		},
		"ReplicasUnavailable: it lasts without another Event": {
			facts:      ready,
			earlier:    []change{nothing, available(0)},
			change:     later(SteadyInterval),
			conditions: stuckFor("ReplicasUnavailable"),
		},
		"ScaledToZero: it is no degradation": {
			facts:   ready,
			earlier: []change{nothing},
			change:  func(f *Facts) { f.Workload.Desired, f.Workload.Replicas, f.Workload.Available = 0, 0, 0 },
			conditions: map[string]string{
				v1alpha1.ConditionReady:       "False/ScaledToZero",
				v1alpha1.ConditionDegraded:    "False/NotDegraded",
				v1alpha1.ConditionProgressing: "False/ScaledToZero",
			},
		},
		"OwnershipConflict: a Service of the name is somebody else's": {
			facts:      ready,
			change:     func(f *Facts) { f.Conflict = &Conflict{Kind: "Service", Name: "shared", Owner: "StatefulSet/db"} },
			conditions: stuckFor("OwnershipConflict"),
			message:    "Service shared exists and is controlled by StatefulSet/db",
			check: func(t *testing.T, v Verdict) {
				if v.Status.Endpoint != "" {
					t.Errorf("engines are sent to %q, which is somebody else's", v.Status.Endpoint)
				}
			},
		},
		"OwnershipConflict: a Service without an owner is left alone too": {
			facts:      ready,
			change:     func(f *Facts) { f.Conflict = &Conflict{Kind: "Service", Name: "shared"} },
			conditions: stuckFor("OwnershipConflict"),
			message:    "controlled by nobody",
		},
		"CredentialsMissing: the Secret vanished": {
			facts:      ready,
			earlier:    []change{nothing},
			change:     func(f *Facts) { f.MissingCredentials = "Secret team-a/shared has no key password" },
			conditions: stuckFor("CredentialsMissing"),
			message:    "create it, or correct the reference",
		},
	})
}

func nothing(*Facts) {}

func neverAvailable(t *testing.T, v Verdict) {
	t.Helper()
	if v.Status.FirstAvailableAt != nil {
		t.Errorf("firstAvailableAt is %s, want none", v.Status.FirstAvailableAt)
	}
}

func TestStoreInStatus(t *testing.T) {
	type store struct {
		Endpoint, Instance, Selector string
		Replicas                     int32
	}
	tests := map[string]struct {
		facts   func() Facts
		earlier []change
		change  change
		want    store
	}{
		"a managed store is shown": {
			facts: managed,
			want:  store{Endpoint: "shared.team-a.svc:6379", Instance: "u1:0", Selector: "app.kubernetes.io/instance=shared", Replicas: 2},
		},
		"a Service that is not seen for a moment stands": {
			facts: managed, earlier: []change{nothing}, change: func(f *Facts) { f.Endpoint = "" },
			want: store{Endpoint: "shared.team-a.svc:6379", Instance: "u1:0", Selector: "app.kubernetes.io/instance=shared", Replicas: 2},
		},
		"an external endpoint is trimmed":              {facts: external, want: store{Endpoint: "redis.example:6379"}},
		"a wrong external endpoint is not shown":       {facts: external, change: func(f *Facts) { f.EndpointProblem = "must have a port" }},
		"host-only has none":                           {facts: hostOnly},
		"EventsOnly has none":                          {facts: eventsOnly},
		"HiCache has none":                             {facts: hiCache},
		"it goes when the backend turns to EventsOnly": {facts: managed, earlier: []change{nothing}, change: toEventsOnly},
		"it goes when the pair is not supported":       {facts: managed, earlier: []change{nothing}, change: func(f *Facts) { f.Supported = false }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := judgementCase{facts: tc.facts, earlier: tc.earlier, change: tc.change}.play(t).Status
			got := store{Endpoint: s.Endpoint, Instance: s.ObservedServerInstance, Selector: s.Selector, Replicas: s.Replicas}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// toEventsOnly turns a managed backend into one that provisions nothing.
func toEventsOnly(f *Facts) {
	f.Backend.Spec.Integration.Mode = v1alpha1.IntegrationModeEventsOnly
	f.Backend.Spec.RemoteStorage, f.Workload, f.Endpoint = nil, nil, ""
}
