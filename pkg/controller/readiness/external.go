/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"strings"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// external judges a store that somebody else runs by its endpoint and its
// credentials alone. Whether it answers is for its owner to watch.
func (j *judgement) external() standing {
	endpoint := externalEndpoint(j.backend)
	switch {
	case endpoint == "":
		return mirrored(v1alpha1.ReasonExternalEndpointMissing, "spec.remoteStorage.endpoint is empty; set it to the host:port of the store")
	case j.facts.EndpointProblem != "":
		return mirrored(v1alpha1.ReasonExternalEndpointInvalid, "spec.remoteStorage.endpoint "+j.facts.EndpointProblem)
	case j.facts.MissingCredentials != "":
		return mirrored(v1alpha1.ReasonCredentialsMissing, credentialsMessage(j.facts.MissingCredentials))
	default:
		accepted := mirrored(v1alpha1.ReasonExternalEndpointAccepted, "Engines are wired to "+endpoint)
		accepted.ready = true
		return accepted
	}
}

// mirrored is a standing whose condition Progressing repeats the reason of Ready:
// there is no rollout to tell of.
func mirrored(reason, message string) standing {
	return settled(reason, message, reason)
}

func externalEndpoint(backend *v1alpha1.CacheBackend) string {
	if backend.Spec.RemoteStorage == nil {
		return ""
	}
	return strings.TrimSpace(backend.Spec.RemoteStorage.Endpoint)
}
