/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"strconv"
	"time"
)

// Holder names one rank of one engine Pod.
type Holder struct {
	Namespace string
	Pod       string
	Rank      uint32
}

// ReplicaID is the Pod's name at rank 0 and "<pod>/<rank>" above.
func (h Holder) ReplicaID() string {
	if h.Rank == 0 {
		return h.Pod
	}
	return h.Pod + "/" + strconv.FormatUint(uint64(h.Rank), 10)
}

// Compare orders holders by namespace, Pod and rank.
func (h Holder) Compare(o Holder) int {
	return cmp.Or(cmp.Compare(h.Namespace, o.Namespace), cmp.Compare(h.Pod, o.Pod), cmp.Compare(h.Rank, o.Rank))
}

// Backend names the CacheBackend that a holder belongs to; the zero value means none.
type Backend struct {
	Namespace string
	Name      string
}

// State is the trust in what the index has of a holder.
type State uint8

// The states of a holder.
const (
	// Live holders have a connected stream and a complete state.
	Live State = iota
	// Suspect holders lost their stream; their lease still runs.
	Suspect
	// Rebuilding holders are connected and have not sent their state yet.
	Rebuilding
	// Degraded holders are live, but hold more than they could report.
	Degraded
)

// String returns the state's name as the API shows it.
func (s State) String() string {
	return [...]string{"Live", "Suspect", "Rebuilding", "Degraded"}[s]
}

// Stats is one scrape of an engine's own metrics. A nil counter was not reported.
type Stats struct {
	Time             time.Time
	Running, Waiting *int64
	// CacheUsage is the used part of the KV cache, 0 to 1.
	CacheUsage *float64
	// Lifetime counters in tokens, for the engine's own cache and for what lies behind it.
	HitTokens, QueryTokens     *int64
	T2HitTokens, T2QueryTokens *int64
	CacheMemoryBytes           *int64
	// Pressure is 0 for an idle engine and 1 for one as loaded as it may be.
	Pressure *float64
	// PrefillRate is the prompt tokens per second that the engine last computed
	// while requests waited; nil until that was seen.
	PrefillRate *float64
}

// Confidence is what a holder says about the quality of its own reports.
type Confidence struct {
	// Conflicts counts contents that the engine knows under several hashes.
	Conflicts int64
	// Unresolved counts announced blocks whose position in a chain is unknown,
	// Unbounded those of them for which not even possible positions are reported.
	Unresolved, Unbounded int64
	// Degraded says why the state is less than what the engine holds; empty when it is not.
	Degraded string
}

// unsure reports whether the holder has blocks that it could not report, so that
// what it reports is a lower bound.
func (c Confidence) unsure() bool { return c.Degraded != "" || c.Unbounded > 0 }

// Hello is what a holder says when it opens a session.
type Hello struct {
	Holder     Holder
	Backend    Backend
	Tenant     string
	Model      string
	HashScheme string
	// Engine is the engine's name, with its version where known ("vllm/0.32.0").
	Engine string
	// Epoch grows with every restart of the engine or of its sidecar.
	Epoch uint64
	// OldestSequence is the first delta that the holder can send again, 0 for none.
	OldestSequence uint64
	// LastSequence is the newest delta that the holder has made, 0 for none.
	LastSequence  uint64
	ClientVersion string
}
