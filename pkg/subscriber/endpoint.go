/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// endpoint is a socket of the engine's rank 0.
type endpoint struct {
	// path is set for a local socket, host and port for one that is reached over
	// the network.
	path, host string
	port       int
}

// parseEndpoint reads the value of a flag that names a socket of an engine with
// so many ranks.
func parseEndpoint(flag, value string, ranks int) (endpoint, error) {
	const remedy = "use tcp://host:port or ipc://path"
	scheme, address, found := strings.Cut(value, "://")
	switch {
	case !found:
		return endpoint{}, problem(flag, value, "has no scheme", remedy)
	case scheme == "ipc" && address != "" && ranks > 1:
		return endpoint{}, problem(flag, value, fmt.Sprintf("cannot name the sockets of %d ranks", ranks), "use tcp://host:port")
	case scheme == "ipc" && address != "":
		return endpoint{path: address}, nil
	case scheme != "tcp":
		return endpoint{}, problem(flag, value, "is no address to connect to", remedy)
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return endpoint{}, problem(flag, value, "is no address to connect to", remedy)
	}
	if strings.Contains(host, "*") {
		return endpoint{}, problem(flag, value, "is an address to listen on", "use the engine's host, 127.0.0.1 in the same Pod")
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port+ranks-1 > 65535 {
		return endpoint{}, problem(flag, value, fmt.Sprintf("has no ports for %d ranks", ranks), "use a port from 1 to 65535")
	}
	return endpoint{host: host, port: port}, nil
}

// ofRank returns the address of the same socket of another rank.
func (e endpoint) ofRank(rank int) string {
	if e.path != "" {
		return "ipc://" + e.path
	}
	return "tcp://" + net.JoinHostPort(e.host, strconv.Itoa(e.port+rank))
}

// overlaps reports whether two sockets of different kinds have a port in common.
func (e endpoint) overlaps(other endpoint, ranks int) bool {
	if e.path != "" || other.path != "" {
		return e.path == other.path
	}
	return max(e.port-other.port, other.port-e.port) < ranks
}
