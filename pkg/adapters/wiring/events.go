/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"fmt"
	"strconv"
	"strings"
)

// Ports of the event publisher that is injected, for rank 0; rank r is r ports
// further. A replay port right behind the publisher's would meet that of the next
// rank, and such an engine dies at its start.
const (
	eventsPort  = 5557
	replayAhead = 100
)

// EventsEndpoint is the injected socket on which an engine publishes.
func EventsEndpoint() string {
	return anywhere(eventsPort)
}

// ReplayEndpoint is the injected socket on which an engine of so many ranks replays.
func ReplayEndpoint(ranks int) string {
	return anywhere(eventsPort + max(replayAhead, ranks))
}

// anywhere is a socket on all addresses: with any other host an engine dials
// instead of listening.
func anywhere(port int) string {
	return fmt.Sprintf("tcp://*:%d", port)
}

// Events is where an engine publishes its events, as its own Pod reaches it, and how
// they are to be read.
type Events struct {
	// Endpoint and ReplayEndpoint are the sockets of rank 0. ReplayEndpoint is empty
	// when nothing is replayed.
	Endpoint, ReplayEndpoint string
	// Topic is what messages begin with.
	Topic string
	// Ranks is the number of data-parallel ranks, at least 1.
	Ranks int
	// HashScheme is the engine, as the subscriber knows it.
	HashScheme string
	// MetricsURL is the page of the engine's metrics, empty when there is none that
	// can be read.
	MetricsURL string
	// RemovalsInferred says that what the engine evicts stays in a tier that it does
	// not announce.
	RemovalsInferred bool
}

// Loopback returns how a socket that an engine listens on is reached from its own
// Pod. It returns false for a socket that cannot be: one that the engine dials, or
// that is no TCP port.
func Loopback(endpoint string) (string, bool) {
	address, tcp := strings.CutPrefix(endpoint, "tcp://")
	at := strings.LastIndexByte(address, ':')
	if !tcp || at < 0 {
		return "", false
	}
	host, port := address[:at], address[at+1:]
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", false
	}
	switch host {
	case "*", "0.0.0.0":
		return "tcp://127.0.0.1:" + port, true
	case "[::]", "::":
		return "tcp://[::1]:" + port, true
	default:
		return "", false
	}
}

// MetricsURL returns the page of an engine's metrics: on its port, or the default
// one when port is 0. There is none to read behind HTTPS, whose certificate nobody
// here can verify, or on a port that is not known (below 0).
func MetricsURL(port, otherwise int, https bool) string {
	if https || port < 0 {
		return ""
	}
	if port == 0 {
		port = otherwise
	}
	return fmt.Sprintf("http://127.0.0.1:%d/metrics", port)
}
