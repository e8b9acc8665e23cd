/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"

	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestHiCache(t *testing.T) {
	only := func(ready string) map[string]string {
		return map[string]string{
			v1alpha1.ConditionReady: ready, v1alpha1.ConditionDegraded: "", v1alpha1.ConditionProgressing: "",
			v1alpha1.ConditionFunctionalProbeOK: "", v1alpha1.ConditionEngineKernelsHealthy: "",
			v1alpha1.ConditionT2Degraded: "", v1alpha1.ConditionEngineCompatibility: "",
		}
	}
	const active, awaiting = "True/HiCacheActive", "False/AwaitingHiCacheEvents"
	unseen := func(f *Facts) { f.Index.HostBlocks = nil }
	emptied := func(f *Facts) { f.Index.HostBlocks = ptr.To[int64](0) }
	unwired := func(f *Facts) { f.Engines.Wired = 0 }
	run(t, map[string]judgementCase{
		"HiCacheActive: blocks in the host tier": {facts: hiCache, conditions: only(active), check: firstEventAt(start)},
		"HiCacheActive: tokens came from the host tier": {
			facts: hiCache, change: all(unseen, func(f *Facts) { f.Index.Entry.T2HitTokens = ptr.To[int64](64) }), conditions: only(active),
		},
		"HiCacheActive: the tier has been emptied": {facts: hiCache, earlier: []change{nothing}, change: emptied, conditions: only(active)},
		"HiCacheActive: the index cannot be read":  {facts: hiCache, earlier: []change{nothing}, change: unread, conditions: only(active)},
		"HiCacheActive: Pods cannot be listed":     {facts: hiCache, earlier: []change{nothing}, change: unlisted, conditions: only(active)},
		"AwaitingHiCacheEvents: no sign of the tier yet": {
			facts: hiCache, change: emptied, conditions: only(awaiting), message: "check that SGLang was started with --enable-hierarchical-cache",
		},
		"AwaitingHiCacheEvents: no event at all": {
			facts: hiCache, change: func(f *Facts) { f.Index = &Index{Complete: true} }, conditions: only(awaiting), message: "check the engines' --kv-events-config",
		},
		"AwaitingHiCacheEvents: the index was never read": {facts: hiCache, change: unread, conditions: only(awaiting)},
		"AwaitingHiCacheEvents: engines were never listed": {
			facts: hiCache, change: unlisted, conditions: only(awaiting), message: "could not be listed",
		},
		"AwaitingHiCacheEvents: no engine is wired": {
			facts: hiCache, change: unwired, conditions: only(awaiting), message: "restart the engines",
		},
		"AwaitingHiCacheEvents: the engines have gone": {
			facts: hiCache, earlier: []change{nothing}, change: unwired, conditions: only(awaiting),
		},
		"AwaitingHiCacheEvents: a managed backend becomes one": {
			facts: managed, earlier: []change{nothing},
			change: func(f *Facts) {
				f.Backend.Spec, f.Workload, f.Endpoint = hiCache().Backend.Spec, nil, ""
			},
			conditions: only(awaiting), check: neverAvailable,
		},
	})
}
