/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// TransferConfig is the value of --kv-transfer-config.
type TransferConfig struct {
	// Connector and Role are empty when they are not given, with which an engine does
	// not start.
	Connector, Role string
	// ModulePath is where the engine looks for the connector, when it is not its own.
	ModulePath string
	// LoadFailurePolicy is recompute or fail, the engine's default; Given says whether
	// it was written down.
	LoadFailurePolicy string
	Given             bool
	// ExtraConfig is the connector's own.
	ExtraConfig map[string]any
	// Unknown are the keys that vLLM 0.32.0 does not have; a release that does not
	// have them either refuses the command line.
	Unknown []string

	members map[string]any
	form    form
}

// EventsConfig is the value of --kv-events-config.
type EventsConfig struct {
	// Enabled says whether the engine makes events at all.
	Enabled bool
	// Publisher is zmq or null.
	Publisher string
	// Endpoint and ReplayEndpoint are the sockets of rank 0; those of rank r are r
	// ports further. ReplayEndpoint is empty when there is none.
	Endpoint, ReplayEndpoint string
	// Topic is the first frame of every message.
	Topic string
	// Unknown are the keys that vLLM 0.32.0 does not have.
	Unknown []string
}

// Keys and values of the two.
const (
	keyConnector   = "kv_connector"
	keyRole        = "kv_role"
	keyPolicy      = "kv_load_failure_policy"
	keyExtraConfig = "kv_connector_extra_config"
	keyModulePath  = "kv_connector_module_path"

	keyEnabled   = "enable_kv_cache_events"
	keyPublisher = "publisher"
	keyEndpoint  = "endpoint"
	keyReplay    = "replay_endpoint"
	keyTopic     = "topic"

	policyRecompute = "recompute"
	policyFail      = "fail"
	publisherZMQ    = "zmq"
	publisherNull   = "null"
)

// transferKeys and eventsKeys are what the two classes of vLLM 0.32.0 have.
func transferKeys() []string {
	return []string{
		keyConnector, keyRole, keyPolicy, keyExtraConfig, keyModulePath, "engine_id", "kv_buffer_device", "kv_buffer_size",
		"kv_rank", "kv_parallel_size", "kv_ip", "kv_port", "enable_permute_local_kv",
	}
}

func eventsKeys() []string {
	return []string{keyEnabled, keyPublisher, keyEndpoint, keyReplay, keyTopic, "buffer_steps", "hwm", "max_queue_size"}
}

func (p *parser) setTransfer(value string, how form) error {
	p.flags.Transfer = nil
	members, err := readObject("kv-transfer-config", value)
	if err != nil || members == nil {
		return err
	}
	if p.flags.Transfer, err = newTransferConfig(members, how); err != nil {
		return fmt.Errorf("--kv-transfer-config: %w", err)
	}
	return nil
}

func (p *parser) setEvents(value string, _ form) error {
	p.flags.Events = nil
	members, err := readObject("kv-events-config", value)
	if err != nil || members == nil {
		return err
	}
	if p.flags.Events, err = newEventsConfig(members); err != nil {
		return fmt.Errorf("--kv-events-config: %w", err)
	}
	return nil
}

// readObject reads a JSON object; nil means that the value unsets the flag.
func readObject(name, value string) (map[string]any, error) {
	if isUnset(value) {
		return nil, nil
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(value), &members); err != nil {
		return nil, fmt.Errorf("--%s: %w", name, err)
	}
	if members == nil {
		return nil, fmt.Errorf("--%s: null is no object", name)
	}
	return members, nil
}

// readValue reads the value of one member: JSON, or else a text.
func readValue(text string) any {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return text
	}
	return value
}

func newTransferConfig(members map[string]any, how form) (*TransferConfig, error) {
	c := &TransferConfig{members: members, form: how, Unknown: unknown(members, transferKeys())}
	_, c.Given = members[keyPolicy]
	err := errors.Join(
		textOf(members, keyConnector, &c.Connector),
		textOf(members, keyRole, &c.Role),
		textOf(members, keyModulePath, &c.ModulePath),
		textOf(members, keyPolicy, &c.LoadFailurePolicy),
	)
	if c.LoadFailurePolicy == "" {
		c.LoadFailurePolicy = policyFail
	}
	if extra, given := members[keyExtraConfig]; given {
		ok := false
		if c.ExtraConfig, ok = extra.(map[string]any); !ok {
			err = errors.Join(err, fmt.Errorf("%s is no object", keyExtraConfig))
		}
	}
	switch {
	case err != nil:
		return nil, err
	case c.Role != "" && !slices.Contains([]string{"kv_producer", "kv_both", "kv_consumer"}, c.Role):
		return nil, fmt.Errorf("%s %q is unknown", keyRole, c.Role)
	case c.LoadFailurePolicy != policyRecompute && c.LoadFailurePolicy != policyFail:
		return nil, fmt.Errorf("%s %q is unknown", keyPolicy, c.LoadFailurePolicy)
	case c.Connector != "" && c.Role == "":
		return nil, fmt.Errorf("%s is set without %s", keyConnector, keyRole)
	}
	return c, nil
}

func newEventsConfig(members map[string]any) (*EventsConfig, error) {
	c := &EventsConfig{Endpoint: defaultEventsEndpoint, Unknown: unknown(members, eventsKeys())}
	err := errors.Join(
		switchOf(members, keyEnabled, &c.Enabled),
		textOf(members, keyPublisher, &c.Publisher),
		textOf(members, keyEndpoint, &c.Endpoint),
		textOf(members, keyReplay, &c.ReplayEndpoint),
		textOf(members, keyTopic, &c.Topic),
	)
	switch {
	case err != nil:
		return nil, err
	case c.Publisher == "" && c.Enabled:
		c.Publisher = publisherZMQ
	case c.Publisher == "":
		c.Publisher = publisherNull
	case c.Publisher != publisherZMQ && c.Publisher != publisherNull:
		return nil, fmt.Errorf("%s %q is unknown", keyPublisher, c.Publisher)
	}
	return c, nil
}

// textOf reads a member that is a text or null.
func textOf(members map[string]any, key string, to *string) error {
	switch value := members[key].(type) {
	case nil:
		return nil
	case string:
		*to = value
		return nil
	default:
		return fmt.Errorf("%s is no text", key)
	}
}

// switchOf reads a member that is a truth value in any spelling that the engine
// takes.
func switchOf(members map[string]any, key string, to *bool) error {
	value, given := members[key]
	if !given {
		return nil
	}
	switch strings.ToLower(fmt.Sprint(value)) {
	case "true", "1", "yes", "y", "on", "t":
		*to = true
	case "false", "0", "no", "n", "off", "f":
		*to = false
	default:
		return fmt.Errorf("%s is no truth value", key)
	}
	return nil
}

// unknown returns the keys that are not among those known, sorted.
func unknown(members map[string]any, keys []string) []string {
	var others []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(keys, key) {
			others = append(others, key)
		}
	}
	return others
}
