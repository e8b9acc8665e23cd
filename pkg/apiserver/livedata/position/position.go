/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package position

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"inferencecache.io/inference-cache/pkg/index"
)

// maxTokenBytes is far above what a token of ours has, whose longest parts are
// the names of a model and an adapter.
const maxTokenBytes = 8 << 10

// ErrInvalid says that a token is none.
var ErrInvalid = errors.New("invalid token")

// Position is an item of a listing: a key of the index and a tier of it. A nil
// position is before the first item.
type Position struct {
	Key  index.ItemKey `json:"k"`
	Tier index.Tier    `json:"t"`
}

// After returns where the index shall go on. It is one hash before the
// position, because that key may have items in further tiers.
func (p *Position) After() *index.ItemKey {
	if p == nil {
		return nil
	}
	key := p.Key
	if key.Hash > 0 {
		key.Hash--
	}
	return &key
}

// Covers reports whether an item was on a page that ended at the position.
func (p *Position) Covers(o *Position) bool {
	if p == nil {
		return false
	}
	if c := o.Key.Compare(p.Key); c != 0 {
		return c < 0
	}
	return o.Tier <= p.Tier
}

// Token is the position as clients carry it. It is not protected: it says
// nothing that its page did not, and a made-up one only chooses a start.
func (p *Position) Token() (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode position: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// Parse reads a token; the empty one is the nil position. The error is ErrInvalid.
func Parse(token string) (*Position, error) {
	if token == "" {
		return nil, nil
	}
	if len(token) > maxTokenBytes {
		return nil, ErrInvalid
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return nil, ErrInvalid
	}
	p := &Position{}
	if err := json.Unmarshal(b, p); err != nil || p.Tier < index.T1 || p.Tier > index.T3 {
		return nil, ErrInvalid
	}
	return p, nil
}
