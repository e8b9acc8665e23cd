/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"encoding/binary"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// extraKeys returns the extra keys of one block of a store that lists them all.
func extraKeys(ev *kvevents.Event, block int) []kvevents.ExtraKey {
	if block >= len(ev.ExtraKeys) {
		return nil
	}
	return ev.ExtraKeys[block]
}

// blockKeys turns an engine's extra keys of a block into the keys of its content.
// The adapter's name comes first and belongs to the scope; at the root of a chain
// the last bare text is the salt.
func (m *Mirror) blockKeys(extra []kvevents.ExtraKey, adapter string, root bool) (keys []fingerprint.Key, salt string) {
	if len(extra) > 0 && adapter != "" && extra[0].Kind == kvevents.ExtraText && extra[0].Text == adapter {
		extra = extra[1:]
	}
	saltAt := -1
	if root {
		for i := range extra {
			if extra[i].Kind == kvevents.ExtraText && extra[i].Text != "" {
				saltAt, salt = i, extra[i].Text
			}
		}
	}
	for i := range extra {
		if i != saltAt {
			keys = append(keys, contentKey(&extra[i]))
		}
	}
	return keys, salt
}

// contentKey translates one extra key. Numbers and forms that are not known count
// by the bytes that carry them.
func contentKey(key *kvevents.ExtraKey) fingerprint.Key {
	switch key.Kind {
	case kvevents.ExtraText:
		return fingerprint.TextKey(key.Text)
	case kvevents.ExtraOffset:
		return fingerprint.OffsetKey(key.Text, key.Int)
	case kvevents.ExtraInt:
		return fingerprint.BytesKey(binary.LittleEndian.AppendUint64(nil, uint64(key.Int)))
	default:
		return fingerprint.BytesKey(key.Bytes)
	}
}

// firstNonEmpty returns the first text that is not empty.
func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
