/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"fmt"
	"maps"
	"slices"
)

// declarations are the scopes and groups that a session has named so far.
type declarations struct {
	scopes map[uint32]Scope
	groups map[uint32]Group
}

func newDeclarations() *declarations {
	return &declarations{scopes: map[uint32]Scope{}, groups: map[uint32]Group{}}
}

// clone copies the declarations, so that a delta can be checked as a whole before
// any of it is applied.
func (d *declarations) clone() *declarations {
	return &declarations{scopes: maps.Clone(d.scopes), groups: maps.Clone(d.groups)}
}

func (d *declarations) addScope(id uint32, s Scope) error {
	if s.BlockSize == 0 || s.BlockSize > maxBlockSize {
		return fmt.Errorf("%w: scope %d has a block size of %d, want 1 to %d", errInvalid, id, s.BlockSize, maxBlockSize)
	}
	old, known := d.scopes[id]
	if known && old != s {
		return fmt.Errorf("%w: scope %d is declared twice with different contents", errInvalid, id)
	}
	if !known && len(d.scopes) >= maxScopes {
		return fmt.Errorf("%w: more than %d scopes", errInvalid, maxScopes)
	}
	d.scopes[id] = s
	return nil
}

func (d *declarations) addGroup(g Group) error {
	if g.BlockSize == 0 || g.BlockSize > maxBlockSize {
		return fmt.Errorf("%w: group %d has a block size of %d, want 1 to %d", errInvalid, g.Index, g.BlockSize, maxBlockSize)
	}
	if g.Kind > CheckpointGroup {
		return fmt.Errorf("%w: group %d has the unknown kind %d", errInvalid, g.Index, g.Kind)
	}
	old, known := d.groups[g.Index]
	if known && (old.BlockSize != g.BlockSize || old.Kind != g.Kind) {
		return fmt.Errorf("%w: group %d changes its kind or block size", errInvalid, g.Index)
	}
	if !known && len(d.groups) >= maxGroups {
		return fmt.Errorf("%w: more than %d groups", errInvalid, maxGroups)
	}
	d.groups[g.Index] = g
	return nil
}

// sortedGroups returns the groups by index.
func (d *declarations) sortedGroups() []Group {
	groups := make([]Group, 0, len(d.groups))
	for _, i := range slices.Sorted(maps.Keys(d.groups)) {
		groups = append(groups, d.groups[i])
	}
	return groups
}
