/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	// maxLine bounds a line of a reply, which is an error or a length.
	maxLine = 4 << 10
	// maxBulk bounds a value. The largest that a probe asks for is its own.
	maxBulk = 1 << 20
)

// errNotRESP says that what was read is no reply of a Redis.
var errNotRESP = errors.New("not a reply of a Redis")

// reply is one reply of a server, in the second version of the protocol, which
// servers speak until they are asked for another.
type reply struct {
	// kind is '+' for a status, '-' for an error, ':' for a number, '$' for a value.
	kind byte
	// text is the status, the error or the value.
	text string
	// number is the number of a reply of that kind.
	number int64
	// null says that there is no value.
	null bool
}

// command encodes a command.
func command(parts ...string) []byte {
	var out []byte
	out = fmt.Appendf(out, "*%d\r\n", len(parts))
	for _, part := range parts {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(part), part)
	}
	return out
}

// readReply reads one reply. What is no reply of the kinds that the commands of a
// probe have is errNotRESP; an error of the reader is returned as it is.
func readReply(r *bufio.Reader) (reply, error) {
	line, err := readLine(r)
	if err != nil {
		return reply{}, err
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', '-':
		return reply{kind: kind, text: rest}, nil
	case ':':
		number, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return reply{}, fmt.Errorf("%w: number %q", errNotRESP, rest)
		}
		return reply{kind: kind, number: number}, nil
	case '$':
		return readBulk(r, rest)
	}
	return reply{}, fmt.Errorf("%w: it begins with %q", errNotRESP, kind)
}

// readBulk reads a value of the given length.
func readBulk(r *bufio.Reader, length string) (reply, error) {
	n, err := strconv.Atoi(length)
	switch {
	case err != nil || n < -1 || n > maxBulk:
		return reply{}, fmt.Errorf("%w: length %q", errNotRESP, length)
	case n == -1:
		return reply{kind: '$', null: true}, nil
	}
	value := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(r, value); err != nil {
		return reply{}, err
	}
	if string(value[n:]) != "\r\n" {
		return reply{}, fmt.Errorf("%w: a value of %d bytes goes on", errNotRESP, n)
	}
	return reply{kind: '$', text: string(value[:n])}, nil
}

// readLine reads a line that is not empty, without its end.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for len(line) <= maxLine {
		b, err := r.ReadByte()
		if err != nil {
			if len(line) > 0 && errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: %w in a line", errNotRESP, io.ErrUnexpectedEOF)
			}
			return "", err
		}
		if b == '\n' && len(line) > 1 && line[len(line)-1] == '\r' {
			return string(line[:len(line)-1]), nil
		}
		line = append(line, b)
		// A record of TLS, an HTTP status line and the like need not be read to their end
		// to be told apart, and some of them have none.
		if len(line) == 1 && !isKind(b) {
			return "", fmt.Errorf("%w: it begins with %q", errNotRESP, b)
		}
	}
	return "", fmt.Errorf("%w: a line of more than %d bytes", errNotRESP, maxLine)
}

func isKind(b byte) bool {
	return b == '+' || b == '-' || b == ':' || b == '$'
}
