/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The kubelet's probes open a connection to the port that clients dial, and no
// more. A command inside the container would need a client in an image that the
// operator chooses; and a store that is up but cannot store is no better after a
// restart, which would only empty it. Whether a store works is what the functional
// probe finds out.

// startupProbe gives a server five minutes: LMCache's takes its time to import what
// it is made of.
func startupProbe(server Server) *corev1.Probe {
	return connect(server, corev1.Probe{PeriodSeconds: 5, FailureThreshold: 60, TimeoutSeconds: 3})
}

func readinessProbe(server Server) *corev1.Probe {
	return connect(server, corev1.Probe{InitialDelaySeconds: server.ReadyDelay, PeriodSeconds: 10, FailureThreshold: 6, TimeoutSeconds: 1})
}

// livenessProbe is slower than the readiness probe by far, so that a server under
// load loses clients before it loses its content.
func livenessProbe(server Server) *corev1.Probe {
	return connect(server, corev1.Probe{PeriodSeconds: 20, FailureThreshold: 9, TimeoutSeconds: 5})
}

// connect completes a probe by what it does, which is to connect to the first port.
func connect(server Server, probe corev1.Probe) *corev1.Probe {
	probe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(server.Ports[0].Name)}}
	return &probe
}
