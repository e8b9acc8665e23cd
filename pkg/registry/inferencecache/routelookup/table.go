/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routelookup

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// candidateRow is a line of the printed answer: what holds for all of it, and one
// candidate, or nil for an answer that has none.
type candidateRow struct {
	answer    *inferencecache.RouteLookupStatus
	candidate *inferencecache.RouteCandidate
}

// newTable returns the table of an answer, for clients that ask for one: a line
// per candidate, or one line that says why there is none.
func newTable() rest.TableConvertor {
	return table.NewRows(clock.RealClock{}, candidateRows,
		func(l *inferencecache.RouteLookup) runtime.Object {
			return &inferencecache.RouteLookup{ObjectMeta: *l.ObjectMeta.DeepCopy()}
		},
		table.Column[candidateRow]{
			Name: "Reason", Type: "string",
			Description: "How the lookup ended.",
			Cell:        func(row candidateRow, _ metav1.Time) any { return table.Text(row.answer.Reason) },
		},
		candidateColumn("Replica", "string", "Engine Pod, with the data-parallel rank above 0.", func(c *inferencecache.RouteCandidate) any {
			if c.Rank == 0 {
				return c.Pod
			}
			return c.Pod + "/" + strconv.Itoa(int(c.Rank))
		}),
		candidateColumn("Matched", "integer", "Tokens that the engine will reuse.", func(c *inferencecache.RouteCandidate) any { return c.MatchedTokens }),
		candidateColumn("Tier", "string", "Slowest tier that the match lies in.", func(c *inferencecache.RouteCandidate) any { return table.Text(c.Tier) }),
		candidateColumn("State", "string", "How far the entry may be trusted.", func(c *inferencecache.RouteCandidate) any { return table.Text(c.State) }),
		candidateColumn("Exact", "boolean", "Whether the match is a promise and not a bound.", func(c *inferencecache.RouteCandidate) any { return c.Exact }),
		candidateColumn("Score", "string", "Milliseconds saved.", func(c *inferencecache.RouteCandidate) any { return table.Text(c.Score) }),
		wide(candidateColumn("TTFT", "string", "Expected milliseconds to the first token.", func(c *inferencecache.RouteCandidate) any { return table.Text(c.ExpectedTTFTMilliseconds) })),
		wide(candidateColumn("T2", "integer", "Matched tokens whose nearest tier is T2.", func(c *inferencecache.RouteCandidate) any { return c.T2Tokens })),
		wide(candidateColumn("T3", "integer", "Matched tokens whose nearest tier is T3.", func(c *inferencecache.RouteCandidate) any { return c.T3Tokens })),
		wide(candidateColumn("Sequence", "integer", "Last delta of the engine that the answer counts in.", func(c *inferencecache.RouteCandidate) any { return c.Sequence })),
		table.Column[candidateRow]{
			Name: "Explanation", Type: "string", Wide: true,
			Description: "Why the lookup ended so.",
			Cell:        func(row candidateRow, _ metav1.Time) any { return table.Text(row.answer.Explanation) },
		},
	)
}

// candidateRows returns the lines of an answer.
func candidateRows(lookup *inferencecache.RouteLookup) []candidateRow {
	if len(lookup.Status.Replicas) == 0 {
		return []candidateRow{{answer: &lookup.Status}}
	}
	rows := make([]candidateRow, 0, len(lookup.Status.Replicas))
	for i := range lookup.Status.Replicas {
		rows = append(rows, candidateRow{answer: &lookup.Status, candidate: &lookup.Status.Replicas[i]})
	}
	return rows
}

// candidateColumn is a column over candidates.
func candidateColumn(name, kind, description string, cell func(*inferencecache.RouteCandidate) any) table.Column[candidateRow] {
	return table.Column[candidateRow]{
		Name: name, Type: kind, Description: description,
		Cell: func(row candidateRow, _ metav1.Time) any {
			if row.candidate == nil {
				return table.None
			}
			return cell(row.candidate)
		},
	}
}

// wide leaves a column to those who ask for all of them.
func wide(column table.Column[candidateRow]) table.Column[candidateRow] {
	column.Wide = true
	return column
}
