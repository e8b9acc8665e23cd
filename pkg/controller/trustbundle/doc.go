/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package trustbundle brings the certificates by which the index is verified to the
// engines. A Pod mounts ConfigMaps of its own namespace only, and engines live for
// longer than certificates, so that a copy that is written into a Pod would end while
// it runs. The ConfigMap that the API server publishes in our namespace is therefore
// copied, under the same name, into every namespace with a CacheBackend that has
// engines to report; the kubelet brings each change into the Pods.
//
// The backends of a namespace own its copy together: the cluster removes it with the
// last of them, and the controller deletes nothing. A ConfigMap of that name which is
// not a copy of ours is left as it is.
package trustbundle
