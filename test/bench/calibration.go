/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// referenceMultiply is what one step of the calibration loop took on the machine
// on which the peers were measured, in nanoseconds of CPU time.
const referenceMultiply = 1.12

// multiplications is the length of the calibration loop.
const multiplications = 1 << 16

// calibration is a chain of multiplications, each of which needs the one before
// it: work that no cache and no neighbour speeds up. What it takes compares this
// machine with the one on which the peers were measured.
func calibration() subject {
	sink := uint64(1)
	return subject{threadCPU, func(int) {
		x := sink
		for range multiplications {
			x *= 0x9e3779b97f4a7c15
		}
		sink = x | 1
	}}
}
