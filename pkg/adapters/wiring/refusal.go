/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"errors"
	"fmt"
)

// Reasons why a Pod stays unwired, as they are written on it. They are a closed
// set, so that they may also label metrics.
const (
	// ReasonEngineContainer: it cannot be told which container is the engine.
	ReasonEngineContainer = "engine-container"
	// ReasonShellCommand: the engine is started by a shell, which takes no further
	// arguments for it.
	ReasonShellCommand = "shell-command"
	// ReasonConfigFile: the engine reads flags from a file that is not known here.
	ReasonConfigFile = "config-file"
	// ReasonEngineArguments: the engine would refuse its command line as it is.
	ReasonEngineArguments = "engine-arguments"
	// ReasonOwnConnector: the engine was given a cache of its own.
	ReasonOwnConnector = "own-connector"
	// ReasonMixedKVLayouts: the engine's blocks would be taken for those of engines that
	// lay theirs out differently.
	ReasonMixedKVLayouts = "mixed-kv-layouts"
	// ReasonReservedName: something else has a name that the wiring needs.
	ReasonReservedName = "reserved-name"
	// ReasonSharedMemory: the engine's /dev/shm cannot be shared with a worker.
	ReasonSharedMemory = "shared-memory"
	// ReasonEndpoint: the address of the store is missing or has a wrong form.
	ReasonEndpoint = "endpoint"
	// ReasonUnsupported: no adapter has the combination that the backend asks for.
	ReasonUnsupported = "unsupported"
	// ReasonNativeSidecars: the cluster is too old for a worker beside the engine.
	ReasonNativeSidecars = "native-sidecars"
	// ReasonNoSubscriber: nothing is to be wired but a subscriber, and there is none.
	ReasonNoSubscriber = "no-subscriber"
	// ReasonEventsDisabled: the engine was told to publish no events, or where nobody
	// beside it can hear them.
	ReasonEventsDisabled = "events-disabled"
)

// Reasons returns every reason of a Refusal.
func Reasons() []string {
	return []string{
		ReasonEngineContainer, ReasonShellCommand, ReasonConfigFile, ReasonEngineArguments, ReasonOwnConnector,
		ReasonMixedKVLayouts, ReasonReservedName, ReasonSharedMemory, ReasonEndpoint, ReasonUnsupported, ReasonNativeSidecars,
		ReasonNoSubscriber, ReasonEventsDisabled,
	}
}

// Refusal is the error of an injection that leaves a Pod as it is.
type Refusal struct {
	// Reason is one of the constants.
	Reason string
	// Message says what is in the way and what to do about it.
	Message string
}

// Error returns the reason and the message.
func (r *Refusal) Error() string {
	return r.Reason + ": " + r.Message
}

// Refuse returns a Refusal with a formatted message.
func Refuse(reason, format string, args ...any) error {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Refused returns the Refusal in an error, or nil if there is none.
func Refused(err error) *Refusal {
	refusal, _ := errors.AsType[*Refusal](err) // nil when there is none
	return refusal
}
