/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglanghicache

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/sglang"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// setting is a flag with its value.
type setting struct {
	flag, value string
}

// Inject gives the engine of a Pod the flags of its hierarchical cache.
func Inject(pod *corev1.Pod, r wiring.Request) error {
	engine, err := sglang.Engine(pod)
	if err != nil {
		return err
	}
	line, flags, err := sglang.Read(engine)
	if err != nil {
		return err
	}
	config := r.Backend.Spec.HiCache
	if config == nil {
		return wiring.Refuse(wiring.ReasonUnsupported, "the backend has no hiCache; set spec.hiCache")
	}
	if err := check(flags, config); err != nil {
		return err
	}
	if !flags.Given(sglang.FlagEnableHiCache) {
		line.Append(sglang.FlagEnableHiCache)
	}
	for _, s := range settings(config) {
		if !flags.Given(s.flag) {
			line.Append(s.flag, s.value)
		}
	}
	return nil
}

// check refuses flags that say something else than the backend.
func check(flags sglang.Flags, config *v1alpha1.HiCacheConfig) error {
	for _, flag := range []string{sglang.FlagEnableLMCache, sglang.FlagLMCacheConfigFile} {
		if flags.Given(flag) {
			return wiring.Refuse(wiring.ReasonOwnConnector, "%s gives the engine another cache; remove it", flag)
		}
	}
	if len(flags[sglang.FlagEnableHiCache]) > 1 {
		return wiring.Refuse(wiring.ReasonOwnConnector, "%s is given twice; remove it", sglang.FlagEnableHiCache)
	}
	opposite := sglang.FlagHiCacheSize
	if config.SizeGB != nil {
		opposite = sglang.FlagHiCacheRatio
	}
	if flags.Given(opposite) {
		return wiring.Refuse(wiring.ReasonOwnConnector, "%s gives the cache another size than the backend; remove it", opposite)
	}
	for _, s := range settings(config) {
		given := flags[s.flag]
		if len(given) > 1 || len(given) == 1 && !same(given[0], s.value) {
			return wiring.Refuse(wiring.ReasonOwnConnector,
				"%s is given as %q; the backend wants %q: remove the flag", s.flag, given[len(given)-1], s.value)
		}
	}
	return nil
}

// settings are the flags of a configuration. What it leaves out is not passed on.
func settings(config *v1alpha1.HiCacheConfig) []setting {
	var list []setting
	for _, s := range []setting{
		{sglang.FlagHiCacheSize, number(config.SizeGB)},
		{sglang.FlagHiCacheRatio, config.Ratio},
		{sglang.FlagHiCacheWritePolicy, string(config.WritePolicy)},
		{sglang.FlagHiCacheIOBackend, string(config.IOBackend)},
		{sglang.FlagHiCacheMemLayout, string(config.MemoryLayout)},
	} {
		if s.value != "" {
			list = append(list, s)
		}
	}
	return list
}

func number(value *int32) string {
	if value == nil {
		return ""
	}
	return strconv.Itoa(int(*value))
}

// same compares two values as the engine does: 2 is 2.0.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
