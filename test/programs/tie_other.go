//go:build !linux

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import "os/exec"

// tie does nothing: only Linux has a signal for the death of a parent.
func tie(*exec.Cmd) {}
