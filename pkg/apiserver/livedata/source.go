/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/index"
)

// Source is the index together with what an answer says of its origin.
type Source struct {
	// Index is what is read.
	Index *index.Index
	// Name identifies this replica (observedBy).
	Name string
	// Clock dates the answers.
	Clock clock.WithTicker
}

// microTime returns nil for the zero time, which stands for never.
func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	v := metav1.NewMicroTime(t)
	return &v
}

// secondTime is microTime in the resolution of older fields.
func secondTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	v := metav1.NewTime(t).Rfc3339Copy()
	return &v
}

// tierOf names a tier of the index; the zero tier has no name.
func tierOf(t index.Tier) inferencecache.CacheTier {
	switch t {
	case index.T1:
		return inferencecache.CacheTierT1
	case index.T2:
		return inferencecache.CacheTierT2
	case index.T3:
		return inferencecache.CacheTierT3
	default:
		return ""
	}
}

// parseTier is the inverse of tierOf. The registry has checked the name.
func parseTier(t inferencecache.CacheTier) index.Tier {
	for _, tier := range []index.Tier{index.T1, index.T2, index.T3} {
		if tierOf(tier) == t {
			return tier
		}
	}
	return 0
}

func stateOf(s index.State) inferencecache.ReplicaState {
	return inferencecache.ReplicaState(s.String())
}

func blocksOf(b [3]int64) inferencecache.TierBlocks {
	return inferencecache.TierBlocks{T1: b[0], T2: b[1], T3: b[2]}
}
