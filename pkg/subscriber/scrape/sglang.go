/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

// readSGLang reads the metrics of SGLang.
func readSGLang(s samples) Reading {
	r := Reading{
		Running:     s.fold(add, firstShard, "sglang:num_running_reqs"),
		Waiting:     s.fold(add, firstShard, "sglang:num_queue_reqs"),
		CacheUsage:  s.fill(),
		HitTokens:   s.fold(add, fromDevice, "sglang:cached_tokens_total"),
		QueryTokens: s.sum("sglang:prompt_tokens_total"),
		T2HitTokens: s.fold(add, notFromDevice, "sglang:cached_tokens_total"),
	}
	// The tiers behind the device are asked for what it did not have. A series of
	// theirs appears with their first hit.
	if r.T2HitTokens != nil && r.QueryTokens != nil {
		asked := *r.QueryTokens
		if r.HitTokens != nil {
			asked = max(0, asked-*r.HitTokens)
		}
		r.T2QueryTokens = &asked
	}
	return r
}

// fill returns the used part of the cache. The gauges of usage count running
// requests only, so that an idle engine with a full cache seems empty; what could
// be evicted is there, too.
func (s samples) fill() *float64 {
	used := s.fold(add, firstShard, "sglang:num_used_tokens")
	evictable := s.fold(add, firstShard, "sglang:kv_evictable_tokens")
	size := s.fold(add, firstShard, "sglang:max_total_num_tokens")
	if used == nil || evictable == nil || size == nil || *size == 0 {
		return s.fold(larger, firstShard, "sglang:token_usage")
	}
	usage := min(1, (*used+*evictable)/(*size))
	return &usage
}

// firstShard keeps one series of those that the processes of one rank report
// alike, and the total of those that are split by priority.
func firstShard(l labels) bool {
	for _, name := range []string{"tp_rank", "pp_rank", "moe_ep_rank"} {
		if shard, ok := l.get(name); ok && shard != "0" && shard != "" {
			return false
		}
	}
	priority, _ := l.get("priority")
	return priority == ""
}

func fromDevice(l labels) bool {
	source, _ := l.get("cache_source")
	return source == "device"
}

func notFromDevice(l labels) bool {
	source, ok := l.get("cache_source")
	return ok && source != "device"
}
