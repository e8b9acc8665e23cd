/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// hiCache judges a backend that lives in its engines alone. A Pod that is ready
// proves that SGLang serves; that its host tier holds blocks shows in the events it
// publishes or in tokens that came from there.
func (j *judgement) hiCache() standing {
	j.latchFirstEvent()
	engines := j.facts.Engines
	active := j.condition(v1alpha1.ConditionReady).Reason == v1alpha1.ReasonHiCacheActive
	switch {
	case engines != nil && engines.Wired == 0:
		return awaitingHiCache(j.silence())
	// What was seen once stands for as long as engines are wired: how full the host
	// tier is changes with every request.
	case active, engines != nil && j.hostTierSeen():
		return serving(v1alpha1.ReasonHiCacheActive, "The host tier of wired engines holds blocks")
	case engines == nil:
		return awaitingHiCache("the engine Pods could not be listed")
	case j.status.FirstKVEventObservedAt != nil:
		return awaitingHiCache("the engines report no block in it yet; send requests that share a prefix, " +
			"and check that SGLang was started with --enable-hierarchical-cache")
	default:
		return awaitingHiCache(j.silence())
	}
}

func (j *judgement) hostTierSeen() bool {
	index := j.facts.Index
	if index == nil {
		return false
	}
	return ptr.Deref(index.HostBlocks, 0) > 0 || index.Entry != nil && ptr.Deref(index.Entry.T2HitTokens, 0) > 0
}

func awaitingHiCache(why string) standing {
	return moving(v1alpha1.ReasonAwaitingHiCacheEvents, "Waiting for signs of the host tier; "+why)
}
