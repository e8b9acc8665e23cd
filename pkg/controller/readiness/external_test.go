/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestExternal(t *testing.T) {
	pair := func(ready, reason string) map[string]string {
		return map[string]string{
			v1alpha1.ConditionReady: ready + "/" + reason, v1alpha1.ConditionProgressing: "False/" + reason,
			v1alpha1.ConditionDegraded: "", v1alpha1.ConditionFunctionalProbeOK: "", v1alpha1.ConditionEngineKernelsHealthy: "",
			v1alpha1.ConditionT2Degraded: "", v1alpha1.ConditionEngineCompatibility: "",
		}
	}
	run(t, map[string]judgementCase{
		"ExternalEndpointAccepted: at once, without an event or a probe": {
			facts:      external,
			change:     all(unread, func(f *Facts) { f.Probe = Probe{Enabled: true, Stages: stages(StageFailed, StageFailed, StageFailed)} }),
			conditions: pair("True", "ExternalEndpointAccepted"), message: "redis.example:6379", check: neverAvailable,
		},
		"ExternalEndpointMissing": {
			facts: external, change: func(f *Facts) { f.Backend.Spec.RemoteStorage.Endpoint = "  " },
			conditions: pair("False", "ExternalEndpointMissing"), message: "set it to the host:port",
		},
		"ExternalEndpointInvalid": {
			facts: external, change: func(f *Facts) { f.EndpointProblem = "must have a port; add it as host:port" },
			conditions: pair("False", "ExternalEndpointInvalid"), message: "spec.remoteStorage.endpoint must have a port",
		},
		"CredentialsMissing": {
			facts: external, change: func(f *Facts) { f.MissingCredentials = "Secret team-a/redis does not exist" },
			conditions: pair("False", "CredentialsMissing"), message: "Secret team-a/redis does not exist; create it",
		},
		"a managed backend becomes External": {
			facts: managed, earlier: []change{nothing}, change: func(f *Facts) { f.Backend.Spec.RemoteStorage = external().Backend.Spec.RemoteStorage },
			conditions: pair("True", "ExternalEndpointAccepted"), check: neverAvailable,
		},
	})
}
