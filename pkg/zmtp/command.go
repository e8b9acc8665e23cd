/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"encoding/binary"
	"fmt"
)

// Names of the commands that a client meets.
const (
	commandReady = "READY"
	commandError = "ERROR"
	commandPing  = "PING"
	commandPong  = "PONG"
)

// Sizes that the protocol fixes inside commands.
const (
	maxCommandSize  = 64 << 10 // ours: metadata is some dozens of bytes
	pingTTLSize     = 2
	maxPingContext  = 16
	propertyLenSize = 4
)

// propertySocketType is the metadata entry that names a peer's socket type.
const propertySocketType = "Socket-Type"

// splitCommand separates the name of a command from its data.
func splitCommand(body []byte) (name string, data []byte, err error) {
	if len(body) == 0 || len(body) < 1+int(body[0]) || body[0] == 0 {
		return "", nil, fmt.Errorf("%w: command without a name", ErrProtocol)
	}
	end := 1 + int(body[0])
	return string(body[1:end]), body[end:], nil
}

// appendCommand appends a command frame. Commands of a client are short.
func appendCommand(dst []byte, name string, data []byte) []byte {
	dst = append(dst, flagCommand, byte(1+len(name)+len(data)), byte(len(name)))
	dst = append(dst, name...)
	return append(dst, data...)
}

// appendReady appends the READY command of a socket of the given type.
func appendReady(dst []byte, socket string) []byte {
	var data []byte
	data = appendProperty(data, propertySocketType, socket)
	data = appendProperty(data, "Identity", "")
	return appendCommand(dst, commandReady, data)
}

func appendProperty(dst []byte, name, value string) []byte {
	dst = append(dst, byte(len(name)))
	dst = append(dst, name...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// socketType finds the socket type in the metadata of a READY command.
func socketType(metadata []byte) (string, error) {
	for len(metadata) > 0 {
		nameEnd := 1 + int(metadata[0])
		if len(metadata) < nameEnd+propertyLenSize {
			return "", fmt.Errorf("%w: metadata ends inside a property", ErrProtocol)
		}
		name := metadata[1:nameEnd]
		size := uint64(binary.BigEndian.Uint32(metadata[nameEnd:]))
		rest := metadata[nameEnd+propertyLenSize:]
		if size > uint64(len(rest)) {
			return "", fmt.Errorf("%w: metadata ends inside property %q", ErrProtocol, name)
		}
		if string(name) == propertySocketType {
			return string(rest[:size]), nil
		}
		metadata = rest[size:]
	}
	return "", fmt.Errorf("%w: peer does not name its socket type", ErrProtocol)
}

// errorReason returns the text of an ERROR command, as much of it as is there.
func errorReason(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	end := min(1+int(data[0]), len(data))
	return string(data[1:end])
}
