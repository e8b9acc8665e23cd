/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// amend changes what an injection has done to a container as overrides say. Only
// what the injection added or changed may be replaced or taken back; what the owner
// of the Pod wrote stays.
func amend(container, before *corev1.Container, overrides *v1alpha1.EngineOverrides) {
	if overrides == nil {
		return
	}
	amendArgs(container, before, overrides)
	amendEnv(container, before, overrides)
}

// argument is a flag with what follows it up to the next flag.
type argument struct {
	flag  string
	items []string
}

// arguments groups items by the flags that they start with. What stands in front of
// the first flag has none.
func arguments(items []string) []argument {
	var groups []argument
	for _, item := range items {
		if strings.HasPrefix(item, "-") {
			groups = append(groups, argument{flag: flagOf(item), items: []string{item}})
			continue
		}
		if len(groups) == 0 {
			groups = append(groups, argument{})
		}
		last := &groups[len(groups)-1]
		last.items = append(last.items, item)
	}
	return groups
}

// flagOf returns the flag that an item begins with. Engines read underscores as
// dashes.
func flagOf(item string) string {
	item = strings.TrimSpace(item)
	if end := strings.IndexAny(item, "= \t\r\n"); end >= 0 {
		item = item[:end]
	}
	return strings.ReplaceAll(item, "_", "-")
}

// value returns the items of a flag without positional ones that follow: a flag has
// one value at most.
func (a argument) value() []string {
	if a.flag == "" {
		return nil
	}
	return a.items[:min(len(a.items), 2)]
}

func amendArgs(container, before *corev1.Container, overrides *v1alpha1.EngineOverrides) {
	given := arguments(slices.Concat(before.Command, before.Args))
	owned := func(a argument) bool {
		return a.flag != "" && !slices.ContainsFunc(given, func(g argument) bool {
			return g.flag == a.flag && slices.Equal(g.value(), a.value())
		})
	}
	usersOwn := func(flag string) bool {
		return slices.ContainsFunc(given, func(g argument) bool { return g.flag == flag })
	}
	injected := arguments(container.Args)
	for _, name := range overrides.SuppressArgs {
		injected = slices.DeleteFunc(injected, func(a argument) bool { return a.flag == flagOf(name) && owned(a) })
	}
	for _, wanted := range arguments(overrides.Args) {
		at := slices.IndexFunc(injected, func(a argument) bool { return a.flag == wanted.flag && owned(a) })
		switch {
		case at >= 0:
			injected[at].items = wanted.items
		case wanted.flag == "" || usersOwn(wanted.flag):
		default:
			injected = append(injected, wanted)
		}
	}
	args := make([]string, 0, len(container.Args))
	for _, a := range injected {
		args = append(args, a.items...)
	}
	if len(args) > 0 || len(container.Args) > 0 {
		container.Args = args
	}
}

func amendEnv(container, before *corev1.Container, overrides *v1alpha1.EngineOverrides) {
	named := func(list []corev1.EnvVar, name string) *corev1.EnvVar {
		at := slices.IndexFunc(list, func(v corev1.EnvVar) bool { return v.Name == name })
		if at < 0 {
			return nil
		}
		return &list[at]
	}
	owned := func(variable *corev1.EnvVar) bool {
		return variable != nil && !equality.Semantic.DeepEqual(named(before.Env, variable.Name), variable)
	}
	for _, name := range overrides.SuppressEnv {
		name = strings.TrimSpace(name)
		if owned(named(container.Env, name)) {
			container.Env = slices.DeleteFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
		}
	}
	for _, wanted := range overrides.Env {
		current := named(container.Env, wanted.Name)
		switch {
		case owned(current):
			*current = *wanted.DeepCopy()
		case current == nil && named(before.Env, wanted.Name) == nil:
			container.Env = append(slices.Clip(container.Env), *wanted.DeepCopy())
		}
	}
}
