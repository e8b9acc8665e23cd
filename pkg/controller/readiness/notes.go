/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxNotes bounds how many Pods, and how many kinds of them, a message names.
const maxNotes = 3

// maxEventMessage is what the API takes as the note of an Event, in bytes. It refuses
// a longer one.
const maxEventMessage = 1024

// noteOf shortens a message to what an Event may say.
func noteOf(message string) string {
	const more = "…"
	if len(message) <= maxEventMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxEventMessage-len(more)], "") + more
}

// notes lists what there is to say of Pods, in the order of their names, so that a
// message changes only when its subject does.
func notes(of []PodNote) string {
	sorted := slices.SortedFunc(slices.Values(of), func(a, b PodNote) int {
		return cmp.Or(cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Note, b.Note))
	})
	var texts []string
	for _, note := range sorted[:min(len(sorted), maxNotes)] {
		text := note.Pod
		if note.Note != "" {
			text += " (" + cut(note.Note) + ")"
		}
		texts = append(texts, text)
	}
	if more := len(sorted) - maxNotes; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}
