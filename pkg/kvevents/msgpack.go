/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"encoding/binary"
	"errors"
	"math"
)

// What can be wrong with encoded bytes. The errors are made once, because a
// hostile payload can hold very many of them.
var (
	errTruncated = errors.New("payload ends inside a value")
	errCount     = errors.New("count exceeds the bytes that follow")
	errType      = errors.New("value has an unexpected type")
	errRange     = errors.New("value is out of range")
)

// Format bytes of msgpack, as far as they are told apart here.
const (
	fixIntMax    = 0x7f
	fixMap       = 0x80
	fixArray     = 0x90
	fixString    = 0xa0
	fixStringEnd = 0xbf
	formatNil    = 0xc0
	formatBin8   = 0xc4
	formatBin16  = 0xc5
	formatBin32  = 0xc6
	formatFloat  = 0xca
	formatDouble = 0xcb
	formatUint8  = 0xcc
	formatUint16 = 0xcd
	formatUint32 = 0xce
	formatUint64 = 0xcf
	formatInt8   = 0xd0
	formatInt16  = 0xd1
	formatInt32  = 0xd2
	formatInt64  = 0xd3
	formatStr8   = 0xd9
	formatStr16  = 0xda
	formatStr32  = 0xdb
	formatArr16  = 0xdc
	formatArr32  = 0xdd
	formatMap16  = 0xde
	formatMap32  = 0xdf
	fixNegative  = 0xe0
)

// cursor reads msgpack from a byte slice. It does not allocate, and slices that
// it returns point into data. After an error its position is undefined.
type cursor struct {
	data []byte
	pos  int
}

// remaining returns how many bytes are left, which is also the largest number of
// values that can be left.
func (c *cursor) remaining() int {
	return len(c.data) - c.pos
}

// peek returns the format byte of the next value; formatNil at the end, which
// callers notice when they read on.
func (c *cursor) peek() byte {
	if c.pos < len(c.data) {
		return c.data[c.pos]
	}
	return formatNil
}

// isArray and isMap report what the next value is.
func (c *cursor) isArray() bool {
	f := c.peek()
	return f&0xf0 == fixArray || f == formatArr16 || f == formatArr32
}

func (c *cursor) isMap() bool {
	f := c.peek()
	return f&0xf0 == fixMap || f == formatMap16 || f == formatMap32
}

// skipNil consumes a nil, if the next value is one.
func (c *cursor) skipNil() bool {
	if c.pos < len(c.data) && c.data[c.pos] == formatNil {
		c.pos++
		return true
	}
	return false
}

// take consumes n bytes.
func (c *cursor) take(n int) ([]byte, error) {
	if n > c.remaining() {
		return nil, errTruncated
	}
	b := c.data[c.pos : c.pos+n : c.pos+n]
	c.pos += n
	return b, nil
}

// format consumes a format byte.
func (c *cursor) format() (byte, error) {
	if c.pos >= len(c.data) {
		return 0, errTruncated
	}
	f := c.data[c.pos]
	c.pos++
	return f, nil
}

// uint consumes a big-endian number of 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size int) (uint64, error) {
	b, err := c.take(size)
	if err != nil {
		return 0, err
	}
	switch size {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(binary.BigEndian.Uint16(b)), nil
	case 4:
		return uint64(binary.BigEndian.Uint32(b)), nil
	default:
		return binary.BigEndian.Uint64(b), nil
	}
}

// count consumes a count of the given size and holds it against what remains,
// each counted element taking at least width bytes.
func (c *cursor) count(size, width int) (int, error) {
	n, err := c.uint(size)
	if err != nil {
		return 0, err
	}
	if n > uint64(c.remaining()/width) {
		return 0, errCount
	}
	return int(n), nil
}

// array consumes the header of an array and returns the number of its items,
// which is never more than there are bytes left.
func (c *cursor) array() (int, error) {
	f, err := c.format()
	switch {
	case err != nil:
		return 0, err
	case f&0xf0 == fixArray:
		if n := int(f & 0x0f); n <= c.remaining() {
			return n, nil
		}
		return 0, errCount
	case f == formatArr16:
		return c.count(2, 1)
	case f == formatArr32:
		return c.count(4, 1)
	default:
		return 0, errType
	}
}

// mapping consumes the header of a map and returns the number of its entries.
func (c *cursor) mapping() (int, error) {
	f, err := c.format()
	switch {
	case err != nil:
		return 0, err
	case f&0xf0 == fixMap:
		if n := int(f & 0x0f); 2*n <= c.remaining() {
			return n, nil
		}
		return 0, errCount
	case f == formatMap16:
		return c.count(2, 2)
	case f == formatMap32:
		return c.count(4, 2)
	default:
		return 0, errType
	}
}

// integer consumes an integer of any width. A negative one is returned as its
// two's complement in 64 bits.
func (c *cursor) integer() (bits uint64, negative bool, err error) {
	f, err := c.format()
	if err != nil {
		return 0, false, err
	}
	switch {
	case f <= fixIntMax:
		return uint64(f), false, nil
	case f >= fixNegative:
		return uint64(int64(int8(f))), true, nil
	case f >= formatUint8 && f <= formatUint64:
		bits, err = c.uint(1 << (f - formatUint8))
		return bits, false, err
	case f >= formatInt8 && f <= formatInt64:
		size := 1 << (f - formatInt8)
		bits, err = c.uint(size)
		shift := 64 - 8*size
		signed := int64(bits<<shift) >> shift
		return uint64(signed), signed < 0, err
	default:
		return 0, false, errType
	}
}

// float consumes a number of any kind as a float64.
func (c *cursor) float() (float64, error) {
	switch c.peek() {
	case formatDouble:
		c.pos++
		bits, err := c.uint(8)
		return math.Float64frombits(bits), err
	case formatFloat:
		c.pos++
		bits, err := c.uint(4)
		return float64(math.Float32frombits(uint32(bits))), err
	default:
		bits, negative, err := c.integer()
		if negative {
			return float64(int64(bits)), err
		}
		return float64(bits), err
	}
}

// str consumes a string or a byte string and tells which it was.
func (c *cursor) str() (value []byte, text bool, err error) {
	f, err := c.format()
	if err != nil {
		return nil, false, err
	}
	var n uint64
	switch {
	case f >= fixString && f <= fixStringEnd:
		n, text = uint64(f&0x1f), true
	case f >= formatStr8 && f <= formatStr32:
		text = true
		n, err = c.uint(1 << (f - formatStr8))
	case f >= formatBin8 && f <= formatBin32:
		n, err = c.uint(1 << (f - formatBin8))
	default:
		return nil, false, errType
	}
	if err != nil {
		return nil, false, err
	}
	if n > uint64(c.remaining()) {
		return nil, false, errTruncated
	}
	value, err = c.take(int(n))
	return value, text, err
}
