/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mutation

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
)

const (
	// maxRange bounds what one edit inserts, repeats or moves.
	maxRange = 64
	// maxLength bounds what edits grow to; longer seeds are only not grown.
	maxLength = 1 << 14
	// maxEdits bounds the edits that separate an input from the one it is made of.
	maxEdits = 4
)

// mutable tells whether an argument is of a type that can be mutated.
func mutable(arg any) bool {
	if _, isBytes := arg.([]byte); isBytes {
		return true
	}
	v := reflect.ValueOf(arg)
	return v.IsValid() && (v.CanInt() || v.CanUint() || v.CanFloat() || v.Kind() == reflect.Bool || v.Kind() == reflect.String)
}

// mutations makes n inputs from a corpus. Half of them continue from an earlier
// one, so that edits add up.
func mutations(r *rand.Rand, corpus [][]any, n int) [][]any {
	var made [][]any
	for range n {
		from := corpus[r.IntN(len(corpus))]
		if len(made) > 0 && r.IntN(2) == 0 {
			from = made[r.IntN(len(made))]
		}
		args, other := slices.Clone(from), corpus[r.IntN(len(corpus))]
		for range 1 + r.IntN(maxEdits) {
			i := r.IntN(len(args))
			args[i] = mutate(r, args[i], other[i])
		}
		made = append(made, args)
	}
	return made
}

// mutate returns an edited copy of a value. Some edits take a part of another
// value of the same type.
func mutate(r *rand.Rand, value, other any) any {
	if raw, isBytes := value.([]byte); isBytes {
		return edit(r, slices.Clone(raw), other.([]byte))
	}
	out := reflect.New(reflect.TypeOf(value)).Elem()
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.Bool:
		out.SetBool(!v.Bool())
	case v.Kind() == reflect.String:
		out.SetString(string(edit(r, []byte(v.String()), []byte(reflect.ValueOf(other).String()))))
	case v.CanInt():
		out.SetInt(int64(number(r, uint64(v.Int()), out.Type().Bits())) << (64 - out.Type().Bits()) >> (64 - out.Type().Bits()))
	case v.CanFloat():
		out.SetFloat(float(r, v.Float()))
	default:
		out.SetUint(number(r, v.Uint(), out.Type().Bits()))
	}
	return out.Interface()
}

// float returns a number near a given one, one at which computations turn, or any.
func float(r *rand.Rand, from float64) float64 {
	turns := []float64{0, math.Copysign(0, -1), 1, -1, 1e9, -1e9, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	switch r.IntN(4) {
	case 0:
		return from + r.NormFloat64()
	case 1:
		return from * math.Ldexp(r.NormFloat64(), r.IntN(64)-32)
	case 2:
		return turns[r.IntN(len(turns))]
	}
	return math.Float64frombits(r.Uint64())
}

// number returns a number near a given one, a border of a type, or any; it fits
// as many bits.
func number(r *rand.Rand, from uint64, width int) uint64 {
	borders := []uint64{0, 1, math.MaxInt8, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64}
	switch r.IntN(4) {
	case 0:
		from += r.Uint64N(2*16+1) - 16
	case 1:
		from ^= 1 << r.IntN(width)
	case 2:
		from = borders[r.IntN(len(borders))] + r.Uint64N(2)
	default:
		from = r.Uint64()
	}
	return from & (math.MaxUint64 >> (64 - width))
}

// edit changes bytes in place or in length.
func edit(r *rand.Rand, b, other []byte) []byte {
	if len(b) == 0 {
		return insert(r, b, noise(r))
	}
	if len(b) > maxLength {
		return remove(r, b)
	}
	switch r.IntN(9) {
	case 0:
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	case 1:
		b[r.IntN(len(b))] = byte(r.Uint32())
	case 2:
		word(r, b)
	case 3:
		b = remove(r, b)
	case 4:
		b = b[:r.IntN(len(b))]
	case 5:
		b = insert(r, b, noise(r))
	case 6:
		b = insert(r, b, slices.Clone(part(r, b)))
	case 7:
		copy(part(r, b), slices.Clone(part(r, b)))
	default:
		b = insert(r, b, part(r, other))
	}
	return b
}

// word changes a number of 1, 2, 4 or 8 bytes in either byte order; lengths and
// counts of most formats are one.
func word(r *rand.Rand, b []byte) {
	size := min(1<<r.IntN(4), 1<<(bits.Len(uint(len(b)))-1))
	at := r.IntN(len(b) - size + 1)
	var wide [8]byte
	if r.IntN(2) == 0 {
		copy(wide[:], b[at:at+size])
		binary.LittleEndian.PutUint64(wide[:], number(r, binary.LittleEndian.Uint64(wide[:]), 8*size))
		copy(b[at:at+size], wide[:])
		return
	}
	copy(wide[8-size:], b[at:at+size])
	binary.BigEndian.PutUint64(wide[:], number(r, binary.BigEndian.Uint64(wide[:]), 8*size))
	copy(b[at:at+size], wide[8-size:])
}

// part returns a short range of b, which may be empty only if b is.
func part(r *rand.Rand, b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	from := r.IntN(len(b))
	return b[from : from+1+r.IntN(min(len(b)-from, maxRange))]
}

func noise(r *rand.Rand) []byte {
	out := make([]byte, 1+r.IntN(8))
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

func insert(r *rand.Rand, b, what []byte) []byte {
	return slices.Insert(b, r.IntN(len(b)+1), what...)
}

func remove(r *rand.Rand, b []byte) []byte {
	from := r.IntN(len(b))
	return slices.Delete(b, from, from+1+r.IntN(len(b)-from))
}
