/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

// Settings are what wiring depends on besides Pod and backend, the same for all.
type Settings struct {
	// SubscriberImage is the image of the subscriber; empty adds none to any Pod.
	SubscriberImage string
	// IndexServer is where subscribers report, as host:port.
	IndexServer string
	// CAConfigMap is the ConfigMap, in the namespace of each Pod, with the certificates
	// that verify the index.
	CAConfigMap string
	// NativeSidecars says that the cluster keeps init containers running whose restart
	// policy is Always: Kubernetes 1.29 and later.
	NativeSidecars bool
}
