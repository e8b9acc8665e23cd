/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "time"

// inferredBlocks remembers until when inferred blocks are believed. Entries are
// queued in the order of their deadlines, so that expiry costs what expires.
type inferredBlocks struct {
	queue    []inferredBlock
	deadline map[inferredKey]time.Time
}

type inferredKey struct {
	unit *unit
	hash uint64
	bit  uint16
}

type inferredBlock struct {
	inferredKey
	directory *directory
	deadline  time.Time
}

// add believes a block until a deadline, which replaces an earlier one. One that is
// a little earlier stays, so that a block that is told of again and again does not
// fill the queue.
func (q *inferredBlocks) add(e inferredBlock, little time.Duration) {
	if q.deadline == nil {
		q.deadline = map[inferredKey]time.Time{}
	}
	if old, ok := q.deadline[e.inferredKey]; ok && e.deadline.Sub(old) < little {
		return
	}
	q.deadline[e.inferredKey] = e.deadline
	q.queue = append(q.queue, e)
}

// forget drops a block that was removed by name.
func (q *inferredBlocks) forget(k inferredKey) {
	delete(q.deadline, k)
}

// next returns a block that is over, once.
func (q *inferredBlocks) next(now time.Time) (inferredBlock, bool) {
	for len(q.queue) > 0 && !q.queue[0].deadline.After(now) {
		e := q.queue[0]
		q.queue = q.queue[1:]
		if deadline, ok := q.deadline[e.inferredKey]; ok && deadline.Equal(e.deadline) {
			delete(q.deadline, e.inferredKey)
			return e, true
		}
	}
	return inferredBlock{}, false
}
