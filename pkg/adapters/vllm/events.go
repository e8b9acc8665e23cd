/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

const (
	// hashScheme is what the subscriber calls the engine.
	hashScheme = "vllm"
	// defaultEventsEndpoint is where an engine publishes when it is not told where.
	defaultEventsEndpoint = "tcp://*:5557"
	// defaultPort is where an engine serves when it is not told where.
	defaultPort = 8000
)

// InjectEvents makes the engine of a Pod publish its events, unless it was told
// about that already.
func InjectEvents(pod *corev1.Pod) error {
	engine, err := Engine(pod)
	if err != nil {
		return err
	}
	line, flags, err := read(engine)
	if err != nil || flags.Events != nil {
		return err
	}
	line.Append("--kv-events-config", encode(map[string]any{
		keyEnabled: true, keyPublisher: publisherZMQ,
		keyEndpoint: wiring.EventsEndpoint(), keyReplay: wiring.ReplayEndpoint(flags.DataParallelSize),
	}))
	return nil
}

// Listen returns where the engine of a Pod publishes its events. It refuses an engine
// that does not, or where nobody beside it can hear them.
func Listen(pod *corev1.Pod) (wiring.Events, error) {
	engine, err := Engine(pod)
	if err != nil {
		return wiring.Events{}, err
	}
	_, flags, err := read(engine)
	if err != nil {
		return wiring.Events{}, err
	}
	c := flags.Events
	if c == nil || !c.Enabled || c.Publisher != publisherZMQ {
		return wiring.Events{}, wiring.Refuse(wiring.ReasonEventsDisabled,
			"--kv-events-config switches events off; remove the flag, or set enable_kv_cache_events and publisher zmq")
	}
	live, ok := wiring.Loopback(c.Endpoint)
	if !ok {
		return wiring.Events{}, wiring.Refuse(wiring.ReasonEventsDisabled,
			"the engine does not listen on --kv-events-config endpoint %q; use %s", c.Endpoint, wiring.EventsEndpoint())
	}
	// A replay that cannot be reached is done without.
	replay, _ := wiring.Loopback(c.ReplayEndpoint)
	return wiring.Events{
		Endpoint: live, ReplayEndpoint: replay, Topic: c.Topic, Ranks: flags.DataParallelSize,
		HashScheme: hashScheme, MetricsURL: wiring.MetricsURL(flags.Port, defaultPort, flags.TLS),
	}, nil
}
