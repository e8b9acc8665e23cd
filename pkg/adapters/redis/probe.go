/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
)

const (
	// lifetime is how long the key of a probe lives, in seconds, should its deletion be
	// lost.
	lifetime = "60"
	// valueSize is the size of the value that is stored, in bytes. A server decides
	// whether memory is left before it carries a command out, over what it holds and
	// what it has received; a small value still passes where no block does.
	valueSize = 64 << 10
)

// Probe stores a value that expires, reads it and deletes it, logged in as engines
// are. A server that refuses any of that is Failed, whatever it says of its health;
// so is one that closes the connection, since an engine would fare no better. It is
// Unknown where the login may do everything but touch the probe's key.
func Probe(ctx context.Context, target probe.Target) probe.Result {
	return probe.Run(ctx, target, func(_ context.Context, conn net.Conn) probe.Result {
		c := client{target: target, conn: conn, in: bufio.NewReader(conn)}
		return c.roundTrip()
	})
}

// client is one connection of a probe.
type client struct {
	target probe.Target
	conn   net.Conn
	in     *bufio.Reader
}

func (c client) roundTrip() probe.Result {
	if c.target.Password != "" {
		if _, bad := c.ask("+", "AUTH", c.target.Password); bad != nil {
			return *bad
		}
	}
	key, value := c.target.KeyPrefix+"/"+c.target.Nonce, value(c.target.Nonce)
	// What the server would refuse anyway, it refuses in clear words only while the
	// command is small: one that has not been logged in to calls a large value a
	// violation of the protocol.
	if _, bad := c.ask("$", "GET", key); bad != nil {
		return *bad
	}
	if _, bad := c.ask("+", "SET", key, value, "EX", lifetime); bad != nil {
		return *bad
	}
	got, bad := c.ask("$", "GET", key)
	switch {
	case bad != nil:
		return *bad
	case got.null:
		return probe.Broken("Redis at %s took a value and no longer has it; give it more memory.", c.target.Address)
	case got.text != value:
		return probe.Broken("Redis at %s gave back another value than it was given; see what stands between.", c.target.Address)
	}
	if _, bad := c.ask(":", "DEL", key); bad != nil {
		return *bad
	}
	return probe.Passed("Redis at %s stored a value, gave it back and deleted it.", c.target.Address)
}

// value fills valueSize with a nonce.
func value(nonce string) string {
	return strings.Repeat(nonce+"\n", valueSize/(len(nonce)+1)+1)[:valueSize]
}

// ask sends a command and returns its reply, which is to be of a kind. Otherwise the
// result of the probe is returned.
func (c client) ask(kind string, parts ...string) (reply, *probe.Result) {
	result := func(r probe.Result) (reply, *probe.Result) { return reply{}, &r }
	if _, err := c.conn.Write(command(parts...)); err != nil && !probe.Closed(err) {
		return result(c.silent())
	}
	// What was written to a closed connection may still have been answered before.
	got, err := readReply(c.in)
	switch {
	case err != nil:
		return result(c.unreadable(err))
	case got.kind == '-':
		return result(c.refused(parts[0], got.text))
	case string(got.kind) != kind:
		return result(probe.Unclear("Redis at %s answers %s as no Redis does.", c.target.Address, parts[0]))
	}
	return got, nil
}

func (c client) silent() probe.Result {
	return probe.Broken("Redis at %s accepts connections and does not answer within %s; see whether it hangs.", c.target.Address, probe.Timeout)
}

// unreadable explains that there is no reply, or none of a Redis.
func (c client) unreadable(err error) probe.Result {
	switch {
	case errors.Is(err, errNotRESP):
		return probe.Broken("What listens at %s is no Redis, or one that wants TLS, which engines do not speak: %s",
			c.target.Address, probe.Quote(err.Error(), c.target.Password))
	case probe.Closed(err):
		return probe.Broken("Redis at %s closes the connection without an answer; it is ending, or it wants TLS, which engines do not speak.", c.target.Address)
	}
	return c.silent()
}
