/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package certificates lets certificates be replaced while they are used: those that
// two replicas make for themselves behind a real control plane, the authority that
// signs them, and the authority of the cluster's front proxy. Lives are seconds
// here; the stages of a rotation are the same as with years.
package certificates
