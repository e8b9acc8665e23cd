/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"unicode"
)

// maxQuoted is how much of what a store says is repeated, in bytes.
const maxQuoted = 160

// Check does the work of a probe on an open connection. The connection is closed
// when ctx ends, and after the check.
type Check func(ctx context.Context, conn net.Conn) Result

// Run opens a connection to a target and runs a check on it, within Timeout. When
// ctx ends before, nothing is concluded from what was not seen.
func Run(ctx context.Context, target Target, check Check) Result {
	bounded, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	result := connected(bounded, target, check)
	if result.Outcome == Failed && ctx.Err() != nil {
		return Unclear("The probe of %s was cut short.", target.Address)
	}
	return result
}

func connected(ctx context.Context, target Target, check Check) Result {
	conn, err := target.connect(ctx)
	if err != nil {
		return Unreachable(target.Address, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // reads and writes end with an error
	defer stop()
	defer func() { _ = conn.Close() }() // nothing is left to be sent
	return check(ctx, conn)
}

// connect dials the target.
func (t Target) connect(ctx context.Context) (net.Conn, error) {
	dial := t.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return dial(ctx, "tcp", t.Address)
}

// Unreachable is the result of a store that no connection could be opened to. Only
// a definite answer is a failure: that nobody listens, or that there is no such
// name. Silence can be a firewall between the prober and a store that engines do
// reach.
func Unreachable(address string, err error) Result {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Broken("Nothing listens at %s; see whether the store runs.", address)
	case errors.As(err, &dns) && dns.IsNotFound:
		return Broken("There is no host of the name in %s; correct the endpoint, or see whether its Service exists.", address)
	}
	return Unclear("No connection to %s: %s", address, Quote(err.Error(), ""))
}

// Closed says whether an error of reading or writing means that the other side
// closed the connection. Any other error is the end of the time.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Quote makes what a store said fit for a message: one line, of bounded length,
// without the password, which stores are known to repeat.
func Quote(said, password string) string {
	if password != "" {
		said = strings.ReplaceAll(said, password, "***")
	}
	said = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, said)
	if len(said) > maxQuoted {
		said = strings.ToValidUTF8(said[:maxQuoted], "") + "..."
	}
	return strings.TrimSpace(said)
}
