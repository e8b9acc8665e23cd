/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// counters are an engine's lifetime totals, in tokens.
type counters struct {
	prompt, output, device, host float64
}

func (c *counters) add(prompt, output, device, host int) {
	c.prompt += float64(prompt)
	c.output += float64(output)
	c.device += float64(device)
	c.host += float64(host)
}

// metricsServer serves GET /metrics under the names of the engine.
type metricsServer struct {
	listener net.Listener
	server   *http.Server
	done     chan error
}

func serveMetrics(address string, e *Engine) (*metricsServer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("bind metrics: %w", err)
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(&collector{engine: e}); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s := &metricsServer{
		listener: listener,
		server:   &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
		done:     make(chan error, 1),
	}
	go func() { s.done <- s.server.Serve(listener) }()
	return s, nil
}

func (s *metricsServer) address() string { return s.listener.Addr().String() }

func (s *metricsServer) close() error {
	err := s.server.Shutdown(context.Background())
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// collector reads an engine's state when it is scraped.
type collector struct {
	engine *Engine
}

// Describe sends nothing: the names depend on the engine.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(out chan<- prometheus.Metric) {
	c.engine.mu.Lock()
	cfg, total, fill := c.engine.cfg, c.engine.counters, c.engine.cache.usage()
	fill.runningRequests, fill.waitingRequests = c.engine.running, c.engine.waiting
	c.engine.mu.Unlock()
	if cfg.Engine == VLLM {
		collectVLLM(out, cfg, total, fill)
		return
	}
	collectSGLang(out, cfg, total, fill)
}

func collectVLLM(out chan<- prometheus.Metric, cfg Config, total counters, fill usage) {
	labels := prometheus.Labels{"engine": strconv.Itoa(cfg.Rank), "model_name": cfg.Model}
	counter(out, "vllm:prefix_cache_queries_total", labels, total.prompt)
	counter(out, "vllm:prefix_cache_hits_total", labels, total.device)
	counter(out, "vllm:prompt_tokens_total", labels, total.prompt)
	counter(out, "vllm:prompt_tokens_cached_total", labels, total.device)
	counter(out, "vllm:generation_tokens_total", labels, total.output)
	gauge(out, "vllm:num_requests_running", labels, float64(fill.runningRequests))
	gauge(out, "vllm:num_requests_waiting", labels, float64(fill.waitingRequests))
	gauge(out, "vllm:kv_cache_usage_perc", labels, float64(fill.running)/float64(fill.total))
	gauge(out, "vllm:cache_config_info", prometheus.Labels{
		"engine":         strconv.Itoa(cfg.Rank),
		"block_size":     strconv.Itoa(cfg.BlockSize),
		"num_gpu_blocks": strconv.Itoa(cfg.Blocks + 1), // one is never used
	}, 1)
}

func collectSGLang(out chan<- prometheus.Metric, cfg Config, total counters, fill usage) {
	labels := prometheus.Labels{
		"engine_type": "unified", "model_name": cfg.Model, "moe_ep_rank": "0", "pp_rank": "0", "tp_rank": "0",
	}
	pages := func(n int) float64 { return float64(n * cfg.BlockSize) }
	counter(out, "sglang:prompt_tokens_total", labels, total.prompt)
	counter(out, "sglang:generation_tokens_total", labels, total.output)
	// A series of reused tokens exists only after its first hit.
	for source, tokens := range map[string]float64{"device": total.device, "host": total.host} {
		if tokens > 0 {
			counter(out, "sglang:cached_tokens_total", with(labels, "cache_source", source), tokens)
		}
	}
	gauge(out, "sglang:num_running_reqs", labels, float64(fill.runningRequests))
	gauge(out, "sglang:num_queue_reqs", labels, float64(fill.waitingRequests))
	gauge(out, "sglang:token_usage", labels, 0)
	gauge(out, "sglang:num_used_tokens", labels, pages(fill.running))
	gauge(out, "sglang:kv_evictable_tokens", labels, pages(fill.evictable))
	gauge(out, "sglang:max_total_num_tokens", labels, pages(fill.total))
	gauge(out, "sglang:page_size", labels, float64(cfg.BlockSize))
	gauge(out, "sglang:num_pages", labels, float64(fill.total))
	if fill.hostTotal > 0 {
		gauge(out, "sglang:hicache_host_used_tokens", labels, pages(fill.hostUsed))
		gauge(out, "sglang:hicache_host_total_tokens", labels, pages(fill.hostTotal))
	}
}

func with(labels prometheus.Labels, name, value string) prometheus.Labels {
	out := prometheus.Labels{name: value}
	maps.Copy(out, labels)
	return out
}

func counter(out chan<- prometheus.Metric, name string, labels prometheus.Labels, value float64) {
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, "Simulated.", nil, labels), prometheus.CounterValue, value)
}

func gauge(out chan<- prometheus.Metric, name string, labels prometheus.Labels, value float64) {
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, "Simulated.", nil, labels), prometheus.GaugeValue, value)
}
