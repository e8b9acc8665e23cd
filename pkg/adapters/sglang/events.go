/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

const (
	// hashScheme is what the subscriber calls the engine.
	hashScheme = "sglang"
	// defaultPort is where an engine serves when it is not told where.
	defaultPort = 30000
	// publisherZMQ is the publisher that anybody can listen to.
	publisherZMQ = "zmq"
)

// InjectEvents makes the engine of a Pod publish its events, unless it was told
// about that already, and serve its metrics, from which its load is known.
func InjectEvents(pod *corev1.Pod) error {
	engine, err := Engine(pod)
	if err != nil {
		return err
	}
	line, flags, err := Read(engine)
	if err != nil {
		return err
	}
	if !flags.Given(flagEvents) {
		config, err := json.Marshal(eventsConfig{
			Publisher: publisherZMQ, Endpoint: wiring.EventsEndpoint(), Replay: wiring.ReplayEndpoint(flags.ranks()),
		})
		if err != nil {
			return err
		}
		line.Append(flagEvents, string(config))
	}
	if !flags.Given(flagEnableMetrics) {
		line.Append(flagEnableMetrics)
	}
	return nil
}

// Listen returns where the engine of a Pod publishes its events. It refuses an engine
// that does not, or where nobody beside it can hear them.
func Listen(pod *corev1.Pod) (wiring.Events, error) {
	engine, err := Engine(pod)
	if err != nil {
		return wiring.Events{}, err
	}
	_, flags, err := Read(engine)
	if err != nil {
		return wiring.Events{}, err
	}
	c, err := flags.events()
	switch {
	case err != nil:
		return wiring.Events{}, wiring.Refuse(wiring.ReasonEngineArguments, "SGLang would refuse its arguments: %v", err)
	case c == nil || c.Publisher != publisherZMQ:
		return wiring.Events{}, wiring.Refuse(wiring.ReasonEventsDisabled,
			"%s publishes no events; remove the flag, or set publisher zmq", flagEvents)
	}
	live, ok := wiring.Loopback(c.Endpoint)
	if !ok {
		return wiring.Events{}, wiring.Refuse(wiring.ReasonEventsDisabled,
			"the engine does not listen on %s endpoint %q; use %s", flagEvents, c.Endpoint, wiring.EventsEndpoint())
	}
	// A replay that cannot be reached is done without.
	replay, _ := wiring.Loopback(c.Replay)
	url := ""
	if flags.Given(flagEnableMetrics) {
		url = wiring.MetricsURL(flags.port(), defaultPort, flags.Given(flagCertificate))
	}
	return wiring.Events{
		Endpoint: live, ReplayEndpoint: replay, Topic: c.Topic, Ranks: flags.ranks(), HashScheme: hashScheme, MetricsURL: url,
	}, nil
}
