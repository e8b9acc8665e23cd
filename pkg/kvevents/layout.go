/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

// field is a field of an event. The values up to fieldWindow are the positions
// at which BlockStored has the fields when it is sent as an array.
type field uint8

const (
	fieldTag field = iota
	fieldHashes
	fieldParent
	fieldTokens
	fieldBlockSize
	fieldLoRAID
	fieldMedium
	fieldLoRAName
	fieldExtraKeys
	fieldGroup
	fieldSpecKind
	fieldWindow
	fieldLocality
	fieldOwnership
	fieldSessionID
	fieldCacheSalt
	fieldRemainingCopies
	fieldUnknown
)

// fieldByName returns the field that a map has under a key.
func fieldByName(name []byte) field {
	switch string(name) {
	case "type":
		return fieldTag
	case "block_hashes":
		return fieldHashes
	case "parent_block_hash":
		return fieldParent
	case "token_ids":
		return fieldTokens
	case "block_size":
		return fieldBlockSize
	case "lora_id":
		return fieldLoRAID
	case "medium":
		return fieldMedium
	case "lora_name":
		return fieldLoRAName
	case "extra_keys":
		return fieldExtraKeys
	case "group_idx":
		return fieldGroup
	case "kv_cache_spec_kind":
		return fieldSpecKind
	case "kv_cache_spec_sliding_window":
		return fieldWindow
	case "locality":
		return fieldLocality
	case "ownership":
		return fieldOwnership
	case "session_id":
		return fieldSessionID
	case "cache_salt":
		return fieldCacheSalt
	case "remaining_copy_counts":
		return fieldRemainingCopies
	default:
		return fieldUnknown
	}
}

// fieldAt returns the field that an array has at a position.
func fieldAt(kind Kind, position int) field {
	switch {
	case kind == BlockStored && position <= int(fieldWindow):
		return field(position)
	case kind == BlockRemoved && position == 1:
		return fieldHashes
	case kind == BlockRemoved && position == 2:
		return fieldMedium
	case kind == BlockRemoved && position == 3:
		return fieldGroup
	default:
		return fieldUnknown
	}
}

// matters reports whether an event of this kind has the field. What an engine
// might add to a removal under the name of another event's field is not read.
func (f field) matters(kind Kind) bool {
	switch f {
	case fieldTag, fieldUnknown:
		return false
	case fieldHashes, fieldMedium, fieldGroup, fieldLocality, fieldOwnership:
		return kind != AllBlocksCleared
	case fieldRemainingCopies:
		return kind == BlockRemoved
	default:
		return kind == BlockStored
	}
}

// set is a set of fields.
type set uint32

func (s set) with(f field) set { return s | 1<<f }

// required returns the fields without which an event says nothing. A store has
// to name its parent even if it has none: a root by omission would put blocks
// where they are not.
func required(kind Kind) set {
	var s set
	switch kind {
	case BlockStored:
		return s.with(fieldHashes).with(fieldParent).with(fieldTokens).with(fieldBlockSize)
	case BlockRemoved:
		return s.with(fieldHashes)
	default:
		return s
	}
}

// kindOf returns the kind with the given tag, 0 if there is none.
func kindOf(tag []byte) Kind {
	switch string(tag) {
	case tagStored:
		return BlockStored
	case tagRemoved:
		return BlockRemoved
	case tagCleared:
		return AllBlocksCleared
	default:
		return 0
	}
}
