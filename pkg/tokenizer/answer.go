/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// MaxTokens is the largest number of ids that a prompt may have, which is also
// what a lookup takes as token ids.
const MaxTokens = 1 << 20

// maxAnswerBytes fits MaxTokens of the longest ids, each with a comma and a space,
// and some room for the other fields.
const maxAnswerBytes int64 = MaxTokens*int64(len("4294967295, ")) + 1<<16

// answer is what a tokenizer says. Fields that no one asked for are passed over.
type answer struct {
	Tokens *tokens `json:"tokens"`
	// Count repeats the number of ids. vLLM and SGLang always send it; others need
	// not, and an answer that was cut or glued together shows by it.
	Count *int64 `json:"count"`
}

// parseAnswer returns the ids of an answer. It trusts nothing but the bound that
// the body was read with.
func parseAnswer(body []byte) ([]uint32, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", withoutContent(err))
	}
	if a.Tokens == nil {
		return nil, errors.New("the answer has no tokens")
	}
	ids := *a.Tokens
	if a.Count != nil && *a.Count != int64(len(ids)) {
		return nil, fmt.Errorf("the answer has %d tokens and says %d", len(ids), *a.Count)
	}
	return ids, nil
}

// withoutContent drops the parts of an error of encoding/json that quote the
// answer, which may repeat the prompt.
func withoutContent(err error) error {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("wrong kind of value at byte %d", mismatch.Offset)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON at byte %d", syntax.Offset)
	}
	return err
}

// tokens are token ids. They are read by hand, because a prompt can have a hundred
// thousand of them and reflection takes longer than the lookup that they are for.
type tokens []uint32

var _ json.Unmarshaler = (*tokens)(nil)

// UnmarshalJSON implements json.Unmarshaler for the array of ids.
func (t *tokens) UnmarshalJSON(value []byte) error {
	if len(value) < 2 || value[0] != '[' {
		return errors.New("tokens are not a list")
	}
	rest := bytes.TrimSpace(value[1 : len(value)-1])
	if len(rest) == 0 {
		*t = tokens{}
		return nil
	}
	// Counted before it is allocated: what is no list of numbers may have many
	// commas too, but never more than there are bytes.
	count := bytes.Count(rest, []byte{','}) + 1
	if count > MaxTokens {
		return fmt.Errorf("more than %d tokens", MaxTokens)
	}
	ids := make(tokens, 0, count)
	for {
		id, length, err := leadingID(rest)
		if err != nil {
			return fmt.Errorf("token %d: %w", len(ids), err)
		}
		ids = append(ids, id)
		rest = skipSpace(rest[length:])
		if len(rest) == 0 {
			*t = ids
			return nil
		}
		if rest[0] != ',' {
			return fmt.Errorf("token %d: not a whole number from 0 to %d", len(ids)-1, uint32(math.MaxUint32))
		}
		rest = skipSpace(rest[1:])
	}
}

// leadingID reads the decimal digits that b starts with, and says how many there
// are.
func leadingID(b []byte) (id uint32, length int, err error) {
	var n uint64
	for length < len(b) && b[length] >= '0' && b[length] <= '9' && n <= math.MaxUint32 {
		n = 10*n + uint64(b[length]-'0')
		length++
	}
	if length == 0 || n > math.MaxUint32 {
		return 0, 0, fmt.Errorf("not a whole number from 0 to %d", uint32(math.MaxUint32))
	}
	return uint32(n), length, nil
}

// skipSpace drops the white space of JSON that b starts with.
func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}
