/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestKernelGate(t *testing.T) {
	const kernels = v1alpha1.ConditionEngineKernelsHealthy
	ready := readyAs("KVEventsObserved")
	checks := func(checks ...KernelCheck) change {
		return func(f *Facts) { f.Engines.Kernels = checks }
	}
	loaded := KernelCheck{Pod: "a", Strict: true, State: KernelsLoaded, Message: "OK"}
	failed := KernelCheck{Pod: "b", State: KernelsFailed, Message: "libcudart.so.13"}
	refused := KernelCheck{Pod: "c", Strict: true, State: KernelsFailed, Message: "libcudart.so.13"}
	unclear := KernelCheck{Pod: "d", State: KernelsUnclear, Message: "Segmentation fault"}
	pending := KernelCheck{Pod: "e", State: KernelsPending}

	run(t, map[string]judgementCase{
		"absent: no engine runs the check": {
			facts: managed, earlier: []change{checks(loaded)}, change: checks(), conditions: with(ready, kernels, ""),
		},
		"KernelsHealthy": {
			facts: managed, earlier: []change{nothing}, change: checks(loaded), conditions: with(ready, kernels, "True/KernelsHealthy"),
		},
		"KernelLoadFailed: report-only never gates": {
			facts: managed, earlier: []change{nothing}, change: checks(loaded, failed, unclear, pending),
			conditions: with(ready, kernels, "False/KernelLoadFailed"), messageOf: kernels, message: "b (libcudart.so.13)",
		},
		"KernelCheckError": {
			facts: managed, earlier: []change{nothing}, change: checks(loaded, unclear, pending),
			conditions: with(ready, kernels, "Unknown/KernelCheckError"), messageOf: kernels, message: "look at init container lmcache-kernel-check",
		},
		"KernelCheckPending": {
			facts: managed, earlier: []change{nothing}, change: checks(loaded, pending), conditions: with(ready, kernels, "Unknown/KernelCheckPending"),
		},
		"EngineKernelDegraded: strict gates": {
			facts: managed, earlier: []change{nothing}, change: checks(loaded, refused),
			conditions: with(downgraded("EngineKernelDegraded"), kernels, "False/KernelLoadFailed"),
			message:    "use an engine image whose LMCache was built for its CUDA: c (libcudart.so.13)",
		},
		"EngineKernelDegraded: the Pod's own mode counts, not the backend's": {
			facts: managed, earlier: []change{nothing}, change: all(checks(refused), annotated(v1alpha1.AnnotationKernelCheck, "off")),
			conditions: downgraded("EngineKernelDegraded"),
		},
		"EngineKernelDegraded: it stands while Pods cannot be listed": {
			facts: managed, earlier: []change{nothing, checks(refused)}, change: unlisted,
			conditions: with(downgraded("EngineKernelDegraded"), kernels, "False/KernelLoadFailed"),
		},
		"EngineKernelDegraded: it ends": {
			facts: managed, earlier: []change{nothing, checks(refused)}, change: checks(loaded),
			conditions: with(ready, kernels, "True/KernelsHealthy"),
		},
		"EngineKernelDegraded: what failed before gives the reason": {
			facts: managed, earlier: []change{nothing}, change: all(available(0), checks(refused)),
			conditions: with(stuckFor("ReplicasUnavailable"), kernels, "False/KernelLoadFailed"), events: []string{"Warning/BackendDegraded"},
		},
		"EngineKernelDegraded: host-only": {
			facts: hostOnly, earlier: []change{nothing}, change: checks(refused),
			conditions: with(downgraded("EngineKernelDegraded"), kernels, "False/KernelLoadFailed"),
		},
		"absent: EventsOnly loads no kernels": {
			facts: eventsOnly, earlier: []change{nothing}, change: checks(refused), conditions: with(ready, kernels, ""),
		},
		"absent: External": {
			facts: external, change: checks(refused),
			conditions: map[string]string{v1alpha1.ConditionReady: "True/ExternalEndpointAccepted", kernels: ""},
		},
	})
}
