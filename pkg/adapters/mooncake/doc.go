/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package mooncake runs a Mooncake master and speaks to it.
//
// Render describes a managed master. It keeps the directory of a store whose
// memory the engines lend: it tells them where a block lies and they fetch it from
// each other, over addresses of their nodes. The master is therefore on its node's
// network, the one exception to the restricted profile of Pod security; who may
// reach its ports is for the firewall of the nodes to say.
//
// Probe finds out whether engines have lent memory to a master, managed or not. Its
// own health says nothing of that.
package mooncake
