/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// newObservationTable returns what kubectl prints of an observation: a line per
// engine rank.
func newObservationTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.NewRows(clock, observationRows, observationRef,
		replicaColumn("Replica", "string", "Engine Pod, with the data-parallel rank above 0.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return replicaName(r.Pod, r.Rank) }),
		replicaColumn("State", "string", "How far the entry may be trusted.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return table.Text(r.State) }),
		replicaColumn("Prefixes", "integer", "Number of distinct prefixes held.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.PrefixCount }),
		replicaColumn("T1", "integer", "Blocks in accelerator memory.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Blocks.T1 }),
		replicaColumn("T2", "integer", "Blocks in host memory or a store reloaded from.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Blocks.T2 }),
		replicaColumn("T3", "integer", "Blocks in a remote store.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Blocks.T3 }),
		replicaColumn("LastEvent", "string", "Time since the latest event.", false,
			func(r *inferencecache.ObservedReplica, now metav1.Time) any {
				if r.LastEventAt == nil {
					return table.None
				}
				return table.Since(&metav1.Time{Time: r.LastEventAt.Time}, now)
			}),
		replicaColumn("Model", "string", "Model that the engine serves.", false,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return table.Text(r.Model) }),
		replicaColumn("Engine", "string", "Inference engine.", true,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return table.Text(r.Engine) }),
		replicaColumn("BlockSize", "integer", "Tokens in one block.", true,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.BlockSize }),
		replicaColumn("Exact", "boolean", "Whether matches are a promise and not a bound.", true,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Exact }),
		replicaColumn("Conflicts", "integer", "Times that one content arrived under two hashes.", true,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Conflicts }),
		replicaColumn("Epoch", "integer", "Life of the engine that the entry describes.", true,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Epoch }),
		replicaColumn("Sequence", "integer", "Last report applied within the epoch.", true,
			func(r *inferencecache.ObservedReplica, _ metav1.Time) any { return r.Sequence }),
		loadColumn("Running", "integer", "Requests in work.", func(l *inferencecache.EngineLoad) any { return l.Running }),
		loadColumn("Waiting", "integer", "Requests that wait.", func(l *inferencecache.EngineLoad) any { return l.Waiting }),
		loadColumn("CacheUsage", "string", "Share of the engine's cache in use.", func(l *inferencecache.EngineLoad) any { return table.Value(l.CacheUsage) }),
	)
}

// replicaColumn is a column over engine ranks.
func replicaColumn(name, kind, description string, wide bool, cell func(*inferencecache.ObservedReplica, metav1.Time) any) table.Column[observationRow] {
	return table.Column[observationRow]{
		Name: name, Type: kind, Description: description, Wide: wide,
		Cell: func(row observationRow, now metav1.Time) any {
			if row.replica == nil {
				return table.None
			}
			return cell(row.replica, now)
		},
	}
}

// loadColumn is a wide column over the load that an engine reports.
func loadColumn(name, kind, description string, cell func(*inferencecache.EngineLoad) any) table.Column[observationRow] {
	return replicaColumn(name, kind, description, true, func(r *inferencecache.ObservedReplica, _ metav1.Time) any {
		if r.Load == nil {
			return table.None
		}
		return cell(r.Load)
	})
}

// replicaName names an engine rank as routers know it: the Pod at rank 0, the
// Pod and the rank above.
func replicaName(pod string, rank int32) string {
	if rank == 0 {
		return pod
	}
	return pod + "/" + strconv.Itoa(int(rank))
}
