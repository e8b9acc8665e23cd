/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

import "strconv"

// readVLLM reads the metrics of vLLM. Names without _total and with gpu_ are those
// of older releases.
func readVLLM(s samples) Reading {
	return Reading{
		Running:       s.sum("vllm:num_requests_running"),
		Waiting:       s.sum("vllm:num_requests_waiting"),
		CacheUsage:    s.max("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
		HitTokens:     s.sum("vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits"),
		QueryTokens:   s.sum("vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries"),
		T2HitTokens:   s.loaded(),
		T2QueryTokens: s.sum("vllm:external_prefix_cache_queries_total", "vllm:external_prefix_cache_queries"),
		Blocks:        s.blocks(),
	}
}

// loaded returns the tokens that came from outside the engine. Its own counter of hits
// has what lookups promised, and keeps it when a load fails afterwards. Where LMCache's
// series are served, they tell what arrived, a little late and by each worker of the
// engine alike, but not for which of several ranks.
func (s samples) loaded() *float64 {
	hits := s.sum("vllm:external_prefix_cache_hits_total", "vllm:external_prefix_cache_hits")
	arrived := s.max("lmcache:num_hit_tokens_total", "lmcache:num_hit_tokens")
	if hits == nil || arrived == nil || s.ranks > 1 {
		return hits
	}
	loaded := min(*hits, *arrived)
	return &loaded
}

// blocks returns the size of the block pool, which vLLM tells as a label.
func (s samples) blocks() int64 {
	for _, metric := range s.families["vllm:cache_config_info"].GetMetric() {
		l := labels(metric.GetLabel())
		if !s.mine(l) {
			continue
		}
		text, _ := l.get("num_gpu_blocks")
		if blocks, err := strconv.ParseInt(text, 10, 64); err == nil && blocks > 0 {
			return blocks
		}
	}
	return 0
}
