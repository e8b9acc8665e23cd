/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"
	"testing"
)

// BenchmarkJudge judges a backend for which all is well, as every look in steady state
// does, and one with many engines that have something to say each.
func BenchmarkJudge(b *testing.B) {
	crowd := managed()
	for i := range 1000 {
		pod := fmt.Sprintf("engine-%d", i)
		crowd.Engines.Kernels = append(crowd.Engines.Kernels, KernelCheck{Pod: pod, State: KernelsFailed, Message: "libcudart.so.13"})
		crowd.Engines.CrashLoops = append(crowd.Engines.CrashLoops, PodNote{Pod: pod})
	}
	for name, facts := range map[string]Facts{"steady": managed(), "1000 engines": crowd} {
		b.Run(name, func(b *testing.B) {
			facts.Backend.Status = Judge(facts).Status
			b.ReportAllocs()
			for b.Loop() {
				Judge(facts)
			}
		})
	}
}
