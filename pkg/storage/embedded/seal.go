/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
)

const (
	// sealSize is the length of the SHA-256 of all the rest, which etcd puts at the
	// end of a snapshot.
	sealSize = sha256.Size

	// sectorSize divides the size of every database, whatever the size of its pages.
	// etcd's own tools tell by it whether a file ends in a checksum.
	sectorSize = 512
)

var (
	errNoSeal = errors.New("it does not end in a checksum: it was cut short, or it is not a snapshot of an etcd")
	errBroken = errors.New("its checksum does not fit its content: it was changed, or it is not a snapshot of an etcd")
)

// seal reads a snapshot and checks its checksum. It is written to from the first
// byte to the last, and is not safe for concurrent use.
type seal struct {
	hash hash.Hash
	size int64
	// tail is the end of what was written, as much of it as may be the checksum.
	tail []byte
}

func newSeal() *seal {
	return &seal{hash: sha256.New()}
}

// Write implements io.Writer. It never fails.
func (s *seal) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	s.tail = append(s.tail, p...)
	if more := len(s.tail) - sealSize; more > 0 {
		s.hash.Write(s.tail[:more])
		s.tail = append(s.tail[:0], s.tail[more:]...)
	}
	return len(p), nil
}

// check returns why what was written is no whole snapshot.
func (s *seal) check() error {
	switch {
	case s.size <= sealSize || s.size%sectorSize != sealSize:
		return errNoSeal
	case !bytes.Equal(s.hash.Sum(nil), s.tail):
		return errBroken
	}
	return nil
}
