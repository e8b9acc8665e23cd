/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// sequenceSize is the length of a sequence number on the wire.
const sequenceSize = 8

// endSequence marks the end of a replay. It is minus one in the engines' terms;
// no publisher ever counts that far.
const endSequence = math.MaxUint64

// ErrMessage reports frames that are not a message of an event publisher.
var ErrMessage = errors.New("not an event message")

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
// payload. The message refers to the frames. Errors wrap [ErrMessage].
func ParseMessage(frames [][]byte) (Message, error) {
	if len(frames) != 3 {
		return Message{}, fmt.Errorf("%w: %d frames, want topic, sequence and payload", ErrMessage, len(frames))
	}
	sequence, err := parseSequence(frames[1])
	if err != nil {
		return Message{}, err
	}
	return Message{Topic: frames[0], Sequence: sequence, Payload: frames[2]}, nil
}

// parseReply reads the frames of a replayed message as a DEALER socket gets
// them. Exactly one leading frame is the envelope and has to be empty; the topic
// that newer engines add after it may be empty too, so counting is the only way
// to tell the two forms apart. End is true for the message that says that
// nothing more comes.
func parseReply(frames [][]byte) (message Message, end bool, err error) {
	if len(frames) == 0 || len(frames[0]) != 0 {
		return Message{}, false, fmt.Errorf("%w: replay without its empty envelope frame", ErrMessage)
	}
	switch frames = frames[1:]; len(frames) {
	case 2: // vLLM up to 0.22 at least, SGLang up to 0.5.21
		message.Payload = frames[1]
		message.Sequence, err = parseSequence(frames[0])
	case 3:
		message, err = ParseMessage(frames)
	default:
		err = fmt.Errorf("%w: replay of %d frames, want 3 or 4", ErrMessage, len(frames)+1)
	}
	if err != nil {
		return Message{}, false, err
	}
	return message, message.Sequence == endSequence || len(message.Payload) == 0, nil
}

func parseSequence(frame []byte) (uint64, error) {
	if len(frame) != sequenceSize {
		return 0, fmt.Errorf("%w: sequence of %d bytes, want %d", ErrMessage, len(frame), sequenceSize)
	}
	return binary.BigEndian.Uint64(frame), nil
}
