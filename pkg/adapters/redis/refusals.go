/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"fmt"
	"strings"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
)

// refusal is how a server refuses commands, and what it means for its use as a
// cache.
type refusal struct {
	// text begins the error.
	text string
	// outcome is what follows for the store.
	outcome probe.Outcome
	// advice says what the error means and what to do.
	advice string
}

// refusals returns what is known of how servers refuse, the more special before the
// more general.
func refusals() []refusal {
	return []refusal{
		{"NOAUTH", probe.Failed, "asks for a password and was given none; set spec.remoteStorage.passwordSecretRef"},
		{"WRONGPASS", probe.Failed, "does not accept the password; correct the Secret, or restart a server that was started with another"},
		{"ERR invalid password", probe.Failed, "does not accept the password; correct the Secret, or restart a server that was started with another"},
		{"ERR AUTH <password> called without", probe.Failed, "has no password, and one was given; remove spec.remoteStorage.passwordSecretRef"},
		{"ERR Client sent AUTH, but no password is set", probe.Failed, "has no password, and one was given; remove spec.remoteStorage.passwordSecretRef"},
		{"NOPERM this user has no permissions to run", probe.Failed, "does not let the login store; give it the right to"},
		{"NOPERM", probe.Unknown, "does not let the login touch keys of the probe, which says nothing about those of engines; permit " +
			"keys that begin with inferencecache.io/probe/"},
		{"READONLY", probe.Failed, "is a replica that nothing can be stored in; point the endpoint at its master"},
		{"OOM", probe.Failed, "has used its memory up and evicts nothing; set maxmemory-policy to allkeys-lru, or give it more memory"},
		{"LOADING", probe.Failed, "is still loading its data; wait"},
		{"BUSY", probe.Failed, "is held up by a script; end it"},
		{"MASTERDOWN", probe.Failed, "has lost its master; restore it"},
		{"MISCONF", probe.Failed, "cannot save its data and takes no more; see its log"},
		{"NOREPLICAS", probe.Failed, "has too few replicas to take data; restore them"},
		{"CLUSTERDOWN", probe.Failed, "belongs to a cluster that is down; restore it"},
		{"MOVED", probe.Failed, "is one node of a cluster, and engines do not find the others; use a Redis outside of a cluster"},
		{"ASK", probe.Failed, "is one node of a cluster, and engines do not find the others; use a Redis outside of a cluster"},
		{"CROSSSLOT", probe.Failed, "is one node of a cluster, and engines do not find the others; use a Redis outside of a cluster"},
		{"DENIED", probe.Failed, "lets only its own host in; set protected-mode to no or give it a password"},
		{"ERR max number of clients reached", probe.Failed, "has no connection left; raise maxclients"},
		{"ERR max clients reached", probe.Failed, "has no connection left; raise maxclients"},
	}
}

// refused explains an error that the server answered a command with. The password
// has no part in it: there are servers that repeat what they do not understand.
func (c client) refused(command, text string) probe.Result {
	said := probe.Quote(text, c.target.Password)
	for _, known := range refusals() {
		if strings.HasPrefix(text, known.text) {
			return probe.Result{
				Outcome: known.outcome,
				Message: fmt.Sprintf("Redis at %s %s. It said: %s", c.target.Address, known.advice, said),
			}
		}
	}
	return probe.Unclear("Redis at %s refuses %s for a reason that is not known: %s", c.target.Address, command, said)
}
