/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"errors"
	"fmt"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

func scopeOf(s *pb.Scope) (index.Change, error) {
	return index.Change{
		Op: index.DeclareScope, ScopeID: s.GetId(),
		Scope: index.Scope{Adapter: s.GetAdapterId(), BlockSize: s.GetBlockSize(), Salted: s.GetSalted()},
	}, checkText("adapter_id", s.GetAdapterId(), maxNameBytes)
}

func groupOf(g *pb.Group) (index.Change, error) {
	kind, err := kindOf(g.GetKind())
	if err == nil {
		err = checkText("spec_kind", g.GetSpecKind(), maxWordBytes)
	}
	return index.Change{
		Op: index.DeclareGroup,
		Group: index.Group{
			Index: g.GetIndex(), Kind: kind, SpecKind: g.GetSpecKind(), Window: g.GetWindow(), BlockSize: g.GetBlockSize(),
		},
	}, err
}

func kindOf(k pb.GroupKind) (index.GroupKind, error) {
	switch k {
	case pb.GroupKind_GROUP_KIND_UNSPECIFIED:
		return index.UnknownGroup, nil
	case pb.GroupKind_GROUP_KIND_FULL:
		return index.FullGroup, nil
	case pb.GroupKind_GROUP_KIND_WINDOW:
		return index.WindowGroup, nil
	case pb.GroupKind_GROUP_KIND_CHECKPOINT:
		return index.CheckpointGroup, nil
	}
	return 0, fmt.Errorf("kind: %d is not known", k)
}

// placeOf reads where blocks lie and how sure that is. An unspecified tier is
// the engine's own; an unspecified certainty is refused, because taking it for
// an announcement would make a false hit of a guess.
func placeOf(t pb.CacheTier, c pb.Certainty) (index.Tier, index.Certainty, error) {
	if t < pb.CacheTier_CACHE_TIER_UNSPECIFIED || t > pb.CacheTier_CACHE_TIER_T3 {
		return 0, 0, fmt.Errorf("tier: %d is not known", t)
	}
	tier := index.Tier(t)
	switch c {
	case pb.Certainty_CERTAINTY_ANNOUNCED:
		return tier, index.Announced, nil
	case pb.Certainty_CERTAINTY_INFERRED:
		return tier, index.Inferred, nil
	case pb.Certainty_CERTAINTY_POSSIBLE:
		return tier, index.Possible, nil
	case pb.Certainty_CERTAINTY_UNSPECIFIED:
	}
	return 0, 0, fmt.Errorf("certainty: %d is not one of the known ones", c)
}

func confidenceOf(c *pb.Confidence) (index.Change, error) {
	out := index.Change{
		Op:         index.SetConfidence,
		Confidence: index.Confidence{Conflicts: c.GetConflicts(), Unresolved: c.GetUnresolved(), Unbounded: c.GetUnbounded(), Degraded: c.GetDegraded()},
	}
	if c.GetConflicts() < 0 || c.GetUnresolved() < 0 || c.GetUnbounded() < 0 {
		return out, errors.New("a count below 0")
	}
	return out, checkText("degraded", c.GetDegraded(), maxReasonBytes)
}
