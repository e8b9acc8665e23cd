/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import "inferencecache.io/inference-cache/test/engine/wire"

// ReplayForm returns the form in which an engine of a version replays.
func ReplayForm(engine, version string) (wire.ReplayForm, error) {
	d, err := dialectOf(engine, version)
	return d.replay, err
}

// ClearedPayload returns the batch in which an engine of a version says that its
// cache is empty. The timestamp is in seconds since 1970.
func ClearedPayload(engine, version string, rank int, timestamp float64) ([]byte, error) {
	d, err := dialectOf(engine, version)
	if err != nil {
		return nil, err
	}
	c := codec{dialect: d, rank: rank}
	return c.encode(timestamp, []event{{kind: cleared}})
}
