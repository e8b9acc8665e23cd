/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package install tests that a real control plane takes what is in artifacts/, that
// the scripts install it again and again, and that nothing is left of it afterwards.
//
// There are no containers, so a small stand-in for the kubelet runs the program of
// the API server with the arguments of its Pod, on loopback and with a token of its
// ServiceAccount that is bound to the Pod, for as long as the Pod is there. The Pod
// itself is scheduled, admitted and called ready by the others, so that the scripts
// do not wait for the server until they ask whether its group is available.
package install
