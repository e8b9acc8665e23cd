/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// The greeting: ten bytes of signature, the version, the security mechanism
// padded with zeros, a flag for the server role, filler.
const (
	greetingSize      = 64
	signatureFirst    = 0xFF
	signatureLast     = 0x7F
	signatureLastPos  = 9
	versionPos        = 10
	mechanismPos      = 12
	mechanismEnd      = 32
	versionMajor      = 3
	mechanismNull     = "NULL"
	greetingFirstPart = versionPos + 1
)

// role is a socket type of ours and the peers that the protocol lets it talk to.
type role struct {
	name  string
	peers []string
}

func subRole() role    { return role{"SUB", []string{"PUB", "XPUB"}} }
func dealerRole() role { return role{"DEALER", []string{"ROUTER", "REP", "DEALER"}} }

// handshake exchanges greetings and READY commands. The caller has set a
// deadline on the connection.
func (c *Conn) handshake(r role) error {
	hello := make([]byte, greetingSize, 2*greetingSize)
	hello[0], hello[signatureLastPos] = signatureFirst, signatureLast
	hello[versionPos] = versionMajor
	copy(hello[mechanismPos:], mechanismNull)
	if _, err := c.conn.Write(hello); err != nil {
		return fmt.Errorf("sending greeting: %w", err)
	}
	if err := c.readGreeting(); err != nil {
		return err
	}
	if _, err := c.conn.Write(appendReady(nil, r.name)); err != nil {
		return fmt.Errorf("sending socket type: %w", err)
	}
	return c.readReady(r)
}

// readGreeting checks the peer's greeting. The version is looked at before the
// rest is read, because older versions of the protocol never send the rest.
func (c *Conn) readGreeting() error {
	var greeting [greetingSize]byte
	if _, err := io.ReadFull(c.in.src, greeting[:greetingFirstPart]); err != nil {
		return fmt.Errorf("reading greeting: %w", err)
	}
	if greeting[0] != signatureFirst || greeting[signatureLastPos] != signatureLast {
		return fmt.Errorf("%w: peer does not speak ZMTP (greeting starts with % x)", ErrProtocol, greeting[:signatureLastPos+1])
	}
	if greeting[versionPos] < versionMajor {
		return fmt.Errorf("%w: peer speaks ZMTP %d, want %d or later", ErrProtocol, greeting[versionPos], versionMajor)
	}
	if _, err := io.ReadFull(c.in.src, greeting[greetingFirstPart:]); err != nil {
		return fmt.Errorf("reading greeting: %w", err)
	}
	mechanism := bytes.TrimRight(greeting[mechanismPos:mechanismEnd], "\x00")
	if string(mechanism) != mechanismNull {
		return fmt.Errorf("%w: peer wants security mechanism %q, only %s is supported", ErrProtocol, mechanism, mechanismNull)
	}
	return nil
}

// readReady reads the peer's first command and checks that its socket is of a
// type that r can talk to.
func (c *Conn) readReady(r role) error {
	frame, err := c.in.nextFrame()
	if err != nil {
		return fmt.Errorf("reading socket type: %w", err)
	}
	if !frame.command {
		return fmt.Errorf("%w: peer sent a message before its socket type", ErrProtocol)
	}
	name, data, err := splitCommand(c.in.command)
	if err != nil {
		return err
	}
	switch name {
	case commandReady:
	case commandError:
		return fmt.Errorf("%w: peer refused the connection: %q", ErrProtocol, errorReason(data))
	default:
		return fmt.Errorf("%w: peer sent command %q instead of its socket type", ErrProtocol, name)
	}
	peer, err := socketType(data)
	if err != nil {
		return err
	}
	if !slices.Contains(r.peers, peer) {
		return fmt.Errorf("%w: peer is a %q socket, a %s socket cannot talk to it", ErrProtocol, peer, r.name)
	}
	return nil
}
