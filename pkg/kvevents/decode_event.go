/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

// outcome is how the attempt to read an event ended.
type outcome uint8

const (
	eventRead outcome = iota
	eventUnknown
	eventMalformed
)

// decodeEvent reads one event of either encoding and appends it to the batch.
// Unless it was read, the position of the cursor is undefined.
func (d *Decoder) decodeEvent() outcome {
	positional := d.cur.isArray()
	if !positional && !d.cur.isMap() {
		return eventUnknown
	}
	start := d.cur.pos
	kind := d.findKind(positional)
	if kind == 0 {
		return eventUnknown
	}
	d.cur.pos = start
	d.batch.Events = append(d.batch.Events, Event{Kind: kind})
	event := &d.batch.Events[len(d.batch.Events)-1]
	var err error
	switch {
	case kind == AllBlocksCleared:
		err = d.cur.skip()
	case positional:
		err = d.decodeArray(event)
	default:
		err = d.decodeMap(event)
	}
	if err != nil {
		d.batch.Events = d.batch.Events[:len(d.batch.Events)-1]
		return eventMalformed
	}
	return eventRead
}

// findKind looks for the tag of an event, the first item or the value under
// "type", and returns 0 if there is none that is known.
func (d *Decoder) findKind(positional bool) Kind {
	if positional {
		if n, err := d.cur.array(); err != nil || n == 0 {
			return 0
		}
		return d.readKind()
	}
	n, err := d.cur.mapping()
	if err != nil {
		return 0
	}
	for range n {
		key, err := d.readKey()
		if err != nil {
			return 0
		}
		if key == fieldTag {
			return d.readKind()
		}
		if err := d.cur.skip(); err != nil {
			return 0
		}
	}
	return 0
}

func (d *Decoder) readKind() Kind {
	tag, text, err := d.cur.str()
	if err != nil || !text {
		return 0
	}
	return kindOf(tag)
}

// readKey consumes the key of a map entry. A key that is no string names no
// field of ours.
func (d *Decoder) readKey() (field, error) {
	start := d.cur.pos
	key, text, err := d.cur.str()
	if err == nil && text {
		return fieldByName(key), nil
	}
	d.cur.pos = start
	return fieldUnknown, d.cur.skip()
}

// decodeArray reads an event whose fields have fixed positions.
func (d *Decoder) decodeArray(event *Event) error {
	n, err := d.cur.array()
	if err != nil {
		return err
	}
	if err := d.cur.skip(); err != nil { // the tag
		return err
	}
	event.Items = n
	seen := set(0)
	for position := 1; position < n; position++ {
		f := fieldAt(event.Kind, position)
		// SGLang 0.5.18 and 0.5.19 put a map of named fields where vLLM has
		// the adapter's name.
		if f == fieldLoRAName && d.cur.isMap() {
			err = d.decodeNamed(event, &seen)
		} else {
			err = d.decodeField(event, f, &seen)
		}
		if err != nil {
			return err
		}
	}
	return event.complete(seen)
}

// decodeMap reads an event whose fields have names.
func (d *Decoder) decodeMap(event *Event) error {
	seen := set(0)
	if err := d.decodeNamed(event, &seen); err != nil {
		return err
	}
	return event.complete(seen)
}

// decodeNamed reads the fields that a map holds.
func (d *Decoder) decodeNamed(event *Event, seen *set) error {
	n, err := d.cur.mapping()
	if err != nil {
		return err
	}
	for range n {
		f, err := d.readKey()
		if err != nil {
			return err
		}
		if err := d.decodeField(event, f, seen); err != nil {
			return err
		}
	}
	return nil
}

// complete checks an event after its last field.
func (e *Event) complete(seen set) error {
	if need := required(e.Kind); seen&need != need {
		return errType
	}
	if len(e.RemainingCopies) != len(e.Hashes) {
		// Counts that cannot be assigned to hashes say nothing.
		e.RemainingCopies = nil
	}
	return nil
}
