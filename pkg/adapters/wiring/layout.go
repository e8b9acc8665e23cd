/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"slices"
	"strings"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// AnnotationLayout is where a cache of Pods has the KV layout of a wired engine, in
// place of the arguments that it was read from. It is on no Pod of the cluster.
const AnnotationLayout = v1alpha1.GroupName + "/kv-layout"

// LayoutFlag is a flag of an engine on which depends how its KV blocks are laid out,
// or what they mean.
type LayoutFlag struct {
	// Names are how the flag may be spelled, without dashes in front; the first is how
	// it is shown.
	Names []string
	// Default is the value that counts as not given. Empty if that depends on more
	// than the engine.
	Default string
}

// Layout describes the KV layout that a command line asks for, by the flags that were
// given a value other than the default, in the order of the flags: equal layouts have
// equal descriptions. Of several values the engine takes the last. Underscores tells
// whether it takes them for dashes.
func Layout(args []string, flags []LayoutFlag, underscores bool) string {
	values := make([]string, len(flags))
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		dashed := strings.TrimLeft(name, "-")
		if dashed == name {
			continue
		}
		if underscores {
			dashed = strings.ReplaceAll(dashed, "_", "-")
		}
		at := slices.IndexFunc(flags, func(f LayoutFlag) bool { return slices.Contains(f.Names, dashed) })
		if at < 0 {
			continue
		}
		if !joined {
			if i++; i == len(args) {
				break
			}
			value = args[i]
		}
		values[at] = value
	}
	var given []string
	for i, value := range values {
		if value != "" && value != flags[i].Default {
			given = append(given, flags[i].Names[0]+"="+value)
		}
	}
	return strings.Join(given, " ")
}
