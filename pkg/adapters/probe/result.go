/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Outcome is what a probe found out.
type Outcome string

const (
	// OK says that the store did what a cache has to do.
	OK Outcome = "OK"
	// Failed says that the store did not.
	Failed Outcome = "Failed"
	// Unknown says that it could not be found out.
	Unknown Outcome = "Unknown"
)

// Timeout bounds a probe as a whole when the context does not do so earlier. It is
// well above what a store may take that is paused or loaded, and well below the
// interval of probes.
const Timeout = 5 * time.Second

// Result is the outcome of a probe.
type Result struct {
	Outcome Outcome
	// Message says in a sentence what was seen and, unless the outcome is OK, what to
	// do. It holds no password and nothing that a store sent but its error, of bounded
	// length.
	Message string
}

// Target is the store to check.
type Target struct {
	// Address is host and port of the store, without a scheme.
	Address string
	// Password is what engines log in with; empty for a store without one.
	Password string
	// KeyPrefix begins every key that the probe writes, see Prefix.
	KeyPrefix string
	// Nonce is different for each probe: letters and digits. A store that answers with
	// what an earlier probe left is found out by it.
	Nonce string
	// Dial opens connections. Nil stands for a net.Dialer of no particular kind.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Prefix returns the prefix of the keys that probes of a backend write. It tells
// them from those of engines and of other backends.
func Prefix(namespace, name string) string {
	return "inferencecache.io/probe/" + namespace + "/" + name
}

// Passed is the result of a store that works.
func Passed(format string, args ...any) Result {
	return Result{Outcome: OK, Message: fmt.Sprintf(format, args...)}
}

// Broken is the result of a store that does not work.
func Broken(format string, args ...any) Result {
	return Result{Outcome: Failed, Message: fmt.Sprintf(format, args...)}
}

// Unclear is the result of a store of which nothing can be said.
func Unclear(format string, args ...any) Result {
	return Result{Outcome: Unknown, Message: fmt.Sprintf(format, args...)}
}
