/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
)

// Paths of the master's administration.
const (
	pathSegments = "/get_all_segments"
	pathMetrics  = "/metrics"
)

// maxBody bounds what is read of an answer, in bytes. The metrics of an empty master
// take 60 KiB, and each segment adds a few lines.
const maxBody = 4 << 20

// errStatus says that the administration answered with another status than 200.
var errStatus = errors.New("unexpected status")

// Probe sees whether engines have lent memory to a master: whether it lists
// segments, and counts clients and capacity. A master without any holds nothing,
// however healthy it calls itself, and is Failed.
//
// The administration listens on MetricsPort of the host in the target's address;
// the address itself is where clients call the master. If only the administration
// cannot be reached, the outcome is Unknown.
func Probe(ctx context.Context, target probe.Target) probe.Result {
	host, _, err := net.SplitHostPort(target.Address)
	if err != nil {
		return probe.Unclear("The endpoint %s is no host and port.", target.Address)
	}
	// That somebody listens where clients call is checked apart, because only that
	// tells a master that is gone from one whose administration is elsewhere.
	reached := probe.Run(ctx, target, func(context.Context, net.Conn) probe.Result { return probe.Passed("") })
	if reached.Outcome != probe.OK {
		return reached
	}
	bounded, cancel := context.WithTimeout(ctx, probe.Timeout)
	defer cancel()
	admin := newAdministration(target, net.JoinHostPort(host, strconv.Itoa(int(MetricsPort))))
	listed, err := admin.segments(bounded)
	if err != nil {
		return admin.unknown(err)
	}
	counted, err := admin.counts(bounded)
	if err != nil {
		return admin.unknown(err)
	}
	return judge(target.Address, listed, counted)
}

// judge draws the conclusion. A count that the master does not have is no evidence.
func judge(address string, segments int, counted counts) probe.Result {
	const advice = "; see whether the engines run, whether they are on their node's network (spec.integration.engineHostNetwork), " +
		"and whether their configuration lends a segment"
	switch {
	case segments == 0 && counted.clients.known && counted.clients.value == 0:
		return probe.Broken("No engine has joined the Mooncake master at %s, so that it can hold nothing%s.", address, advice)
	case segments == 0:
		return probe.Broken("No engine lends memory to the Mooncake master at %s, so that it can hold nothing%s.", address, advice)
	case counted.capacity.known && counted.capacity.value <= 0:
		return probe.Broken("The segments of the Mooncake master at %s have no capacity%s.", address, advice)
	case !counted.capacity.known:
		return probe.Passed("The Mooncake master at %s has %d segments.", address, segments)
	}
	return probe.Passed("The Mooncake master at %s has %d segments of %.0f bytes in all.", address, segments, counted.capacity.value)
}

// administration is the HTTP face of a master.
type administration struct {
	address string
	client  *http.Client
}

func newAdministration(target probe.Target, address string) administration {
	dial := target.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return administration{address: address, client: &http.Client{
		Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a master redirects nobody
		},
	}}
}

// get returns the body of an answer.
func (a administration) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %d for %s", errStatus, response.StatusCode, path)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxBody))
}

func (a administration) segments(ctx context.Context) (int, error) {
	body, err := a.get(ctx, pathSegments)
	if err != nil {
		return 0, err
	}
	return countSegments(body)
}

func (a administration) counts(ctx context.Context) (counts, error) {
	body, err := a.get(ctx, pathMetrics)
	if err != nil {
		return counts{}, err
	}
	return parseCounts(body), nil
}

// unknown is the result of a master whose administration does not say what is asked.
func (a administration) unknown(err error) probe.Result {
	return probe.Unclear("The administration of the Mooncake master at %s does not say whether engines lend it memory: %s",
		a.address, probe.Quote(err.Error(), ""))
}
