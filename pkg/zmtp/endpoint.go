/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"fmt"
	"net"
	"strings"
)

// parseEndpoint splits a ZeroMQ endpoint into what net.Dial takes. Addresses on
// which only a server can bind are refused here, because dialling them fails
// with a message that does not tell why.
func parseEndpoint(endpoint string) (network, address string, err error) {
	scheme, address, found := strings.Cut(endpoint, "://")
	if !found {
		return "", "", fmt.Errorf("endpoint %q has no scheme, want tcp://host:port or ipc://path", endpoint)
	}
	switch scheme {
	case "tcp":
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return "", "", fmt.Errorf("endpoint %q: %w", endpoint, err)
		}
		if host == "" || strings.Contains(host, "*") {
			return "", "", fmt.Errorf("endpoint %q is an address to bind, not to dial", endpoint)
		}
		if port == "" || port == "0" || port == "*" {
			return "", "", fmt.Errorf("endpoint %q has no port to dial", endpoint)
		}
		return "tcp", address, nil
	case "ipc":
		if address == "" || address == "*" {
			return "", "", fmt.Errorf("endpoint %q has no path to dial", endpoint)
		}
		return "unix", address, nil
	default:
		return "", "", fmt.Errorf("endpoint %q: transport %q is not supported, want tcp or ipc", endpoint, scheme)
	}
}
