/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

const subscriberProgram = "kvevent-subscriber"

// subscriberWindow is how long changes are collected before they are reported.
// The demo compares after every request and does not want to wait for more.
const subscriberWindow = "10ms"

// engine is what stands for an inference engine in the demo, recorded or
// simulated, with its subscriber.
type engine struct {
	// backend is the CacheBackend, manifest the file it comes from, and pod the
	// name under which the engine reports.
	backend, manifest, pod string
	// model and scheme are what lookups name.
	model, scheme string
	// title says what it is.
	title string
	// events, replay and metrics are the engine's endpoints; metrics may be empty.
	events, replay, metrics string
	// newest returns the sequence of the newest message sent, if there is one.
	newest func() (uint64, bool)

	subscriber  *process
	metricsAddr string
}

// subscribe starts the engine's subscriber.
func (e *engine) subscribe(root, dir string, s *server) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	e.metricsAddr = address
	e.subscriber, err = start(dir, subscriberProgram+"-"+e.backend, filepath.Join(root, "bin", subscriberProgram),
		"--engine-endpoint="+e.events,
		"--engine-replay-endpoint="+e.replay,
		"--engine-metrics-url="+e.metrics,
		"--server="+s.grpcAddress,
		"--token-file="+s.tokenFile(),
		"--ca-file="+s.caFile(),
		"--replica-id="+e.pod,
		"--tenant-id="+namespace,
		"--model-id="+e.model,
		"--hash-scheme="+e.scheme,
		"--backend="+namespace+"/"+e.backend,
		"--window="+subscriberWindow,
		"--metrics-bind-address="+address,
	)
	return err
}

// ask looks a prompt up and finds the engine in the answer.
func (e *engine) ask(ctx context.Context, s *server, request *pb.LookupRouteRequest) (answer, error) {
	response, err := s.lookup(ctx, request)
	if err != nil {
		return answer{}, err
	}
	a := answer{prompt: len(request.GetTokenIds()), exact: true, reason: response.GetReasonCode()}
	for _, replica := range response.GetReplicaScores() {
		if replica.GetPod() == e.pod {
			a.matched, a.exact = int(replica.GetMatchedTokens()), replica.GetExact()
			a.tier = strings.TrimPrefix(replica.GetTier().String(), "CACHE_TIER_")
		}
	}
	if a.matched > a.prompt {
		return a, fmt.Errorf("%d tokens matched of %d", a.matched, a.prompt)
	}
	return a, nil
}

// freeAddress returns a loopback address that was free a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
