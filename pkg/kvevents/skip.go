/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

// Formats that only skip meets.
const (
	formatFalse    = 0xc2
	formatTrue     = 0xc3
	formatExt8     = 0xc7
	formatExt16    = 0xc8
	formatExt32    = 0xc9
	formatFixExt1  = 0xd4
	formatFixExt16 = 0xd8
	extTypeSize    = 1
)

// skip consumes one value of any type, with all that is nested in it. It counts
// the values still to come instead of recursing, so that deep nesting costs
// nothing.
func (c *cursor) skip() error {
	for pending := 1; pending > 0; pending-- {
		nested, err := c.skipOne()
		if err != nil {
			return err
		}
		pending += nested
		// Every pending value takes a byte at least; this ends a lie early.
		if pending-1 > c.remaining() {
			return errCount
		}
	}
	return nil
}

// skipOne consumes a scalar, or the header of an array or map, and returns the
// number of values nested in it.
func (c *cursor) skipOne() (nested int, err error) {
	f := c.peek()
	switch {
	case c.isArray():
		return c.array()
	case c.isMap():
		n, err := c.mapping()
		return 2 * n, err
	case f >= fixString && f <= fixStringEnd, f >= formatStr8 && f <= formatStr32, f >= formatBin8 && f <= formatBin32:
		_, _, err = c.str()
		return 0, err
	}
	size, err := c.scalarSize()
	if err != nil {
		return 0, err
	}
	_, err = c.take(size)
	return 0, err
}

// scalarSize consumes a format byte, and the length of an extension, and returns
// how many bytes of the value follow.
func (c *cursor) scalarSize() (int, error) {
	f, err := c.format()
	if err != nil {
		return 0, err
	}
	switch {
	case f <= fixIntMax, f >= fixNegative, f == formatNil, f == formatFalse, f == formatTrue:
		return 0, nil
	case f == formatFloat:
		return 4, nil
	case f == formatDouble:
		return 8, nil
	case f >= formatUint8 && f <= formatUint64:
		return 1 << (f - formatUint8), nil
	case f >= formatInt8 && f <= formatInt64:
		return 1 << (f - formatInt8), nil
	case f >= formatFixExt1 && f <= formatFixExt16:
		return extTypeSize + 1<<(f-formatFixExt1), nil
	case f >= formatExt8 && f <= formatExt32:
		n, err := c.count(1<<(f-formatExt8), 1)
		return extTypeSize + n, err
	default: // 0xc1 is never used
		return 0, errType
	}
}
