/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wire

import "encoding/binary"

// endSequence closes a replay: all ones, which no message carries.
const endSequence = ^uint64(0)

// Message is one message of an engine's publisher.
type Message struct {
	// Topic is what subscribers filter by; may be empty.
	Topic []byte
	// Sequence counts the messages of one publisher process from 0.
	Sequence uint64
	// Payload is an encoded batch of events.
	Payload []byte
}

// Frames returns the message as it appears on the PUB socket.
func (m Message) Frames() [][]byte {
	return [][]byte{m.Topic, sequenceFrame(m.Sequence), m.Payload}
}

// ReplayForm is the shape in which a ROUTER repeats messages.
type ReplayForm uint8

// The two forms in use. Engines changed from the first to the second.
const (
	// ReplayPlain repeats sequence and payload.
	ReplayPlain ReplayForm = iota
	// ReplayTopic repeats topic, sequence and payload.
	ReplayTopic
)

// frames returns one repeated message behind the envelope of a ROUTER.
func (f ReplayForm) frames(identity []byte, m Message) [][]byte {
	frames := [][]byte{identity, {}}
	if f == ReplayTopic {
		frames = append(frames, m.Topic)
	}
	return append(frames, sequenceFrame(m.Sequence), m.Payload)
}

// end returns the marker after the last repeated message. Its topic is empty
// also where messages have one.
func (f ReplayForm) end(identity []byte) [][]byte {
	return f.frames(identity, Message{Topic: []byte{}, Sequence: endSequence, Payload: []byte{}})
}

func sequenceFrame(sequence uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, sequence)
}
