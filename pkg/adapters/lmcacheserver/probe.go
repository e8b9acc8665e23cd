/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package lmcacheserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
)

// blockSize is the size of the block that is stored, in bytes.
const blockSize = 4 << 10

// errForeign says that what answers is not the protocol that we know.
var errForeign = errors.New("not a reply of an LMCache server")

// Probe asks a server for its health, stores a block and reads it back on the same
// connection, which is the order in which the server works.
//
// A server that answers the first question as none that we know does, or not at
// all, is Unknown: of another version, or hanging. One that does and then fails is
// Failed. The block stays, in the place of the one of the probe before.
func Probe(ctx context.Context, target probe.Target) probe.Result {
	former := false
	result := probe.Run(ctx, target, func(_ context.Context, conn net.Conn) probe.Result {
		c := client{target: target, conn: conn}
		answered, err := c.health(key(target.KeyPrefix))
		switch {
		case err == nil && answered:
			return c.roundTrip()
		case probe.Closed(err):
			former = true
			return probe.Unclear("What listens at %s closes the connection when asked for its health; it is no LMCache server, "+
				"or of a version whose protocol is not known.", target.Address)
		}
		return probe.Unclear("What listens at %s does not answer as an LMCache server whose protocol is known; it hangs, "+
			"or is of another version.", target.Address)
	})
	if former {
		return recognise(ctx, target, result)
	}
	return result
}

// recognise asks again, in the way of releases up to 0.3, so that the reason can be
// named. Their servers are not checked further.
func recognise(ctx context.Context, target probe.Target, unrecognised probe.Result) probe.Result {
	return probe.Run(ctx, target, func(_ context.Context, conn net.Conn) probe.Result {
		if answered, err := (client{target: target, conn: conn}).health(formerKey(target.KeyPrefix)); err == nil && answered {
			return probe.Unclear("The LMCache server at %s is of a release before 0.4, which is not checked; "+
				"use the release of the LMCache in the engines.", target.Address)
		}
		return unrecognised
	})
}

// client is one connection of a probe.
type client struct {
	target probe.Target
	conn   net.Conn
}

// health asks for the health of the server, and says whether it has any.
func (c client) health(key string) (bool, error) {
	if _, err := c.conn.Write(request{command: commandHealth, key: key}.encode()); err != nil {
		return false, err
	}
	head, err := c.header()
	return head.code == codeSuccess && head.length == 0, err
}

// header reads the head of a reply.
func (c client) header() (header, error) {
	var raw [headerSize]byte
	if _, err := io.ReadFull(c.conn, raw[:]); err != nil {
		return header{}, err
	}
	head, err := decodeHeader(raw)
	if err != nil {
		return header{}, fmt.Errorf("%w: %w", errForeign, err)
	}
	return head, nil
}

func (c client) roundTrip() probe.Result {
	put := request{
		command: commandPut, length: blockSize, key: key(c.target.KeyPrefix),
		dims: shape{2, 1, blockSize / (2 * 16 * halfSize), 16},
	}
	block := block(c.target.Nonce)
	get := request{command: commandGet, key: put.key}
	if _, err := c.conn.Write(slices.Concat(put.encode(), block, get.encode())); err != nil {
		return c.failed(err)
	}
	head, err := c.header()
	switch {
	case err != nil:
		return c.failed(err)
	case head.code == codeFail:
		return probe.Broken("The LMCache server at %s took a block and does not have it; see its log.", c.target.Address)
	case head.length != put.length || head.dims != put.dims || head.format != formatToken || head.kind != typeHalf:
		return probe.Broken("The LMCache server at %s describes a block otherwise than it was stored; "+
			"use the release of the LMCache in the engines.", c.target.Address)
	}
	got := make([]byte, blockSize)
	if _, err := io.ReadFull(c.conn, got); err != nil {
		return c.failed(err)
	}
	if !slices.Equal(got, block) {
		return probe.Broken("The LMCache server at %s gave back another block than it was given; see what stands between.", c.target.Address)
	}
	return probe.Passed("The LMCache server at %s stored a block and gave it back.", c.target.Address)
}

// failed explains an error on a connection on which the server was healthy before.
func (c client) failed(err error) probe.Result {
	switch {
	case errors.Is(err, errForeign):
		return probe.Broken("The LMCache server at %s answers a request for a block with something else: %s",
			c.target.Address, probe.Quote(err.Error(), ""))
	case probe.Closed(err):
		return probe.Broken("The LMCache server at %s says that it is healthy and closes the connection when a block is stored; see its log.", c.target.Address)
	}
	return probe.Broken("The LMCache server at %s says that it is healthy and does not answer for a block within %s; see whether it hangs.",
		c.target.Address, probe.Timeout)
}

// block fills blockSize with a nonce.
func block(nonce string) []byte {
	return []byte(strings.Repeat(nonce+"\n", blockSize/(len(nonce)+1)+1)[:blockSize])
}
