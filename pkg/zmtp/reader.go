/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var (
	// ErrProtocol reports bytes that ZMTP does not allow.
	ErrProtocol = errors.New("protocol error")
	// ErrLimit reports a message beyond the limits of [Options].
	ErrLimit = errors.New("limit exceeded")
)

// Flags of a frame's first byte.
const (
	flagMore    = 0x01
	flagLong    = 0x02
	flagCommand = 0x04
	flagsKnown  = flagMore | flagLong | flagCommand
)

const (
	shortHeaderSize = 2
	longHeaderSize  = 9
	readBufferSize  = 64 << 10
	// growStep bounds what is allocated for announced bytes that have not come.
	growStep = 64 << 10
	// keepBuffer is the largest message buffer that is kept for later messages.
	keepBuffer = 1 << 20
)

// frame describes a frame whose body has been read completely.
type frame struct {
	more, command bool
}

// reader cuts the peer's bytes into messages. It can be interrupted by a
// deadline at any byte and continued later: whatever is read is kept.
type reader struct {
	src    *bufio.Reader
	limits Options

	body    []byte   // frames of the message that is being read, end to end
	ends    []int    // where each complete frame ends in body
	frames  [][]byte // the message as handed out
	command []byte   // body of the command that is being read
	done    bool     // the message was handed out: start anew

	open      bool // a header was read and its body is not complete
	header    frame
	remaining int // bytes of the open frame's body still to come
}

func newReader(src io.Reader, limits Options) *reader {
	return &reader{src: bufio.NewReaderSize(src, readBufferSize), limits: limits}
}

// nextFrame reads one frame. The body of a command is then in command, any
// other body at the end of body.
func (r *reader) nextFrame() (frame, error) {
	if !r.open {
		if err := r.readHeader(); err != nil {
			return frame{}, err
		}
	}
	target := &r.body
	if r.header.command {
		target = &r.command
	}
	for r.remaining > 0 {
		n, err := r.readBody(target)
		r.remaining -= n
		if err != nil && r.remaining > 0 {
			return frame{}, noEOF(err)
		}
	}
	r.open = false
	if !r.header.command {
		r.ends = append(r.ends, len(r.body))
	}
	return r.header, nil
}

// readBody appends some of the open frame's body to target, allocating at most
// one step ahead of what has arrived.
func (r *reader) readBody(target *[]byte) (int, error) {
	buf := *target
	if len(buf) == cap(buf) {
		// append grows a large slice by a quarter at least, so that a long
		// body is copied a few times at most, and an announced body that
		// never comes costs one step.
		step := min(r.remaining, growStep)
		buf = append(buf, make([]byte, step)...)[:len(buf)]
	}
	room := min(r.remaining, cap(buf)-len(buf))
	n, err := r.src.Read(buf[len(buf) : len(buf)+room])
	*target = buf[:len(buf)+n]
	return n, err
}

// readHeader reads and checks a frame header. Nothing is consumed until the
// header is complete.
func (r *reader) readHeader() error {
	head, err := r.src.Peek(shortHeaderSize)
	if err != nil {
		if len(head) > 0 || r.inMessage() {
			err = noEOF(err)
		}
		return err
	}
	flags, size, headerSize := head[0], uint64(head[1]), shortHeaderSize
	if flags&^flagsKnown != 0 {
		return fmt.Errorf("%w: frame flags %#02x", ErrProtocol, flags)
	}
	if flags&flagLong != 0 {
		if head, err = r.src.Peek(longHeaderSize); err != nil {
			return noEOF(err)
		}
		size, headerSize = binary.BigEndian.Uint64(head[1:]), longHeaderSize
	}
	header := frame{more: flags&flagMore != 0, command: flags&flagCommand != 0}
	if err := r.checkSize(header, size); err != nil {
		return err
	}
	// Peek has made these bytes available, so this cannot fail.
	_, _ = r.src.Discard(headerSize)
	r.open, r.header, r.remaining = true, header, int(size)
	if header.command {
		r.command = r.command[:0]
	}
	return nil
}

// checkSize holds an announced frame against the limits.
func (r *reader) checkSize(header frame, size uint64) error {
	if header.command {
		if header.more {
			return fmt.Errorf("%w: command in several frames", ErrProtocol)
		}
		if size > maxCommandSize {
			return fmt.Errorf("%w: command of %d bytes, at most %d are taken", ErrLimit, size, maxCommandSize)
		}
		return nil
	}
	if size > uint64(r.limits.MaxFrameSize) {
		return fmt.Errorf("%w: frame of %d bytes, at most %d are taken", ErrLimit, size, r.limits.MaxFrameSize)
	}
	if total := uint64(len(r.body)) + size; total > uint64(r.limits.MaxMessageSize) {
		return fmt.Errorf("%w: message of %d bytes, at most %d are taken", ErrLimit, total, r.limits.MaxMessageSize)
	}
	if len(r.ends) >= r.limits.MaxFrames {
		return fmt.Errorf("%w: message of more than %d frames", ErrLimit, r.limits.MaxFrames)
	}
	return nil
}

// inMessage reports whether some frames of a message were read, but not all.
func (r *reader) inMessage() bool {
	return !r.done && len(r.ends) > 0
}

// reset forgets the message that was handed out.
func (r *reader) reset() {
	if cap(r.body) > keepBuffer {
		r.body = nil
	}
	r.body, r.ends, r.done = r.body[:0], r.ends[:0], false
}

// message returns the frames of the message that is complete. Frames are cut
// only now, because body moves while it grows.
func (r *reader) message() [][]byte {
	r.frames = r.frames[:0]
	start := 0
	for _, end := range r.ends {
		r.frames = append(r.frames, r.body[start:end:end])
		start = end
	}
	r.done = true
	return r.frames
}

// noEOF turns an end of the stream into an unexpected one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
