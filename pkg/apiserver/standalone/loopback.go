/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"fmt"
	"net"
)

// RequireLoopback returns an error that names the flag when a host is not a
// loopback address. An empty host means all interfaces.
func RequireLoopback(flag, host string) error {
	if host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	if host == "" {
		host = "all interfaces"
	}
	return fmt.Errorf("%s: standalone mode serves loopback addresses only, not %s; "+
		"use 127.0.0.1, or run in a cluster to serve a network", flag, host)
}
