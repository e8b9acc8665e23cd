/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package lmcacheserver runs LMCache's own server and speaks to it.
//
// Render describes a managed server. Its replicas know nothing of each other, so
// that each is a cache of its own behind one Service.
//
// Probe finds out whether a server, managed or not, stores what it is given and
// gives it back. It speaks the server's binary protocol, which carries no version
// and differs between releases; a server whose protocol is not known is neither
// good nor bad.
package lmcacheserver
