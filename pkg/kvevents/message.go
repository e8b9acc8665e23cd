/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"encoding/binary"
	"fmt"
)

// sequenceSize is the length of a sequence number on the wire.
const sequenceSize = 8

// Message is one message of an engine's publisher, live or replayed.
type Message struct {
	// Topic is the publisher's topic. Older engines replay without a topic.
	Topic []byte
	// Sequence counts the messages of one publisher process from 0. A sequence
	// below one already seen means that the engine has started anew.
	Sequence uint64
	// Payload is an encoded [Batch].
	Payload []byte
}

// ParseMessage reads the three frames of a live message: topic, sequence,
// payload. The message refers to the frames.
func ParseMessage(frames [][]byte) (Message, error) {
	if len(frames) != 3 {
		return Message{}, fmt.Errorf("event message has %d frames, want topic, sequence and payload", len(frames))
	}
	if len(frames[1]) != sequenceSize {
		return Message{}, fmt.Errorf("sequence frame has %d bytes, want %d", len(frames[1]), sequenceSize)
	}
	return Message{
		Topic:    frames[0],
		Sequence: binary.BigEndian.Uint64(frames[1]),
		Payload:  frames[2],
	}, nil
}
