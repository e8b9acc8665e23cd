/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	"inferencecache.io/inference-cache/test/mutation"
)

// sealed appends a right checksum.
func sealed(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(bytes.Clone(content), sum[:]...)
}

func TestSeal(t *testing.T) {
	whole := sealed(bytes.Repeat([]byte("0123456789abcdef"), 64))
	flipped := bytes.Clone(whole)
	flipped[100] ^= 1
	wrongEnd := bytes.Clone(whole)
	wrongEnd[len(wrongEnd)-1] ^= 0x80
	tests := map[string]struct {
		content []byte
		want    error
	}{
		"whole":                         {content: whole},
		"empty":                         {want: errNoSeal},
		"checksum of nothing":           {content: sealed(nil), want: errNoSeal},
		"one byte less":                 {content: whole[:len(whole)-1], want: errNoSeal},
		"without checksum":              {content: whole[:len(whole)-sealSize], want: errNoSeal},
		"one sector less":               {content: whole[sectorSize:], want: errBroken},
		"one bit of the content flips":  {content: flipped, want: errBroken},
		"one bit of the checksum flips": {content: wrongEnd, want: errBroken},
		"right checksum of a length that no database has": {content: sealed([]byte("text")), want: errNoSeal},
	}
	for name, tc := range tests {
		for _, step := range []int{1, 31, 32, 33, 500, len(tc.content) + 1} {
			t.Run(name, func(t *testing.T) {
				s := newSeal()
				for rest := tc.content; len(rest) > 0; rest = rest[min(step, len(rest)):] {
					if n, err := s.Write(rest[:min(step, len(rest))]); err != nil || n != min(step, len(rest)) {
						t.Fatalf("wrote %d bytes of %d, error %v", n, min(step, len(rest)), err)
					}
				}
				if err := s.check(); !errors.Is(err, tc.want) {
					t.Errorf("in steps of %d: %v, want %v", step, err, tc.want)
				}
				if s.size != int64(len(tc.content)) {
					t.Errorf("size %d, want %d", s.size, len(tc.content))
				}
			})
		}
	}
}

// FuzzSeal holds the check, which sees a file in pieces, against one that sees all
// of it.
func FuzzSeal(f *testing.F) {
	corpus := mutation.New(f, 2000)
	corpus.Add([]byte{}, 1)
	corpus.Add(sealed(make([]byte, sectorSize)), 7)
	corpus.Add(sealed(make([]byte, 3*sectorSize))[1:], 100)
	corpus.Fuzz(func(t *testing.T, content []byte, step int) {
		if step < 1 {
			step = 1
		}
		s := newSeal()
		for rest := content; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			if _, err := s.Write(rest[:min(step, len(rest))]); err != nil {
				t.Fatal(err)
			}
		}
		body := content[:max(0, len(content)-sealSize)]
		whole := len(body) > 0 && len(body)%sectorSize == 0 && bytes.Equal(sealed(body), content)
		if err := s.check(); (err == nil) != whole {
			t.Errorf("check says %v, whole is %t", err, whole)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	b.ReportAllocs()
	piece := make([]byte, 32<<10)
	b.SetBytes(int64(len(piece)))
	s := newSeal()
	for b.Loop() {
		if _, err := s.Write(piece); err != nil {
			b.Fatal(err)
		}
	}
}
