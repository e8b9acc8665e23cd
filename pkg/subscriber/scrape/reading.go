/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

import (
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Profile selects the names and meanings of an engine's metrics.
type Profile string

// The profiles, named as the hash schemes are.
const (
	VLLM   Profile = "vllm"
	SGLang Profile = "sglang"
)

// Reading is what one page says about one rank. A nil field was not reported.
type Reading struct {
	// Running and Waiting are requests.
	Running, Waiting *float64
	// CacheUsage is the used part of the KV cache, 0 to 1.
	CacheUsage *float64
	// HitTokens of QueryTokens were found in the engine's own memory, T2HitTokens
	// of T2QueryTokens in the tiers behind it. They count from the engine's start.
	HitTokens, QueryTokens     *float64
	T2HitTokens, T2QueryTokens *float64
	// Blocks is the number of blocks in the engine's own memory, 0 when unknown.
	Blocks int64
}

// maxPage bounds a page of metrics; real ones are below 200 KB.
const maxPage = 16 << 20

// Parse reads a page of metrics and returns what it says about each of the ranks
// 0 to ranks−1. A page on which a rank's load is missing is an error.
func Parse(page io.Reader, profile Profile, ranks int) ([]Reading, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(page, maxPage))
	if err != nil {
		return nil, fmt.Errorf("metrics of the engine: %w", err)
	}
	readings := make([]Reading, ranks)
	for rank := range readings {
		p := samples{families: families, rank: rank, ranks: ranks}
		read := readVLLM
		if profile == SGLang {
			read = readSGLang
		}
		readings[rank] = read(p)
		if rank == 0 && (readings[rank].Running == nil || readings[rank].Waiting == nil) {
			return nil, fmt.Errorf("the page has no numbers of running and waiting requests under %s names", profile)
		}
	}
	return readings, nil
}

// samples are the values of one rank on a page.
type samples struct {
	families    map[string]*dto.MetricFamily
	rank, ranks int
}

// fold combines the values of one rank under the first of the names that the page
// has; nil when it has none. Keep selects among series by their labels.
func (s samples) fold(combine func(a, b float64) float64, keep func(labels) bool, names ...string) *float64 {
	for _, name := range names {
		var result *float64
		for _, metric := range s.families[name].GetMetric() {
			l := labels(metric.GetLabel())
			if !s.mine(l) || (keep != nil && !keep(l)) {
				continue
			}
			value, ok := valueOf(metric)
			if !ok {
				continue
			}
			if result != nil {
				value = combine(*result, value)
			}
			result = &value
		}
		if result != nil {
			return result
		}
	}
	return nil
}

func add(a, b float64) float64 { return a + b }

func larger(a, b float64) float64 { return max(a, b) }

func (s samples) sum(names ...string) *float64 { return s.fold(add, nil, names...) }

func (s samples) max(names ...string) *float64 { return s.fold(larger, nil, names...) }

// mine reports whether a series is about this rank. One without a rank is about
// the only rank, or about the first of several.
func (s samples) mine(l labels) bool {
	rank, ok := l.rank()
	if s.ranks == 1 {
		return true
	}
	if !ok {
		return s.rank == 0
	}
	return rank == fmt.Sprint(s.rank)
}

// labels are those of one series.
type labels []*dto.LabelPair

func (l labels) get(name string) (string, bool) {
	for _, pair := range l {
		if pair.GetName() == name {
			return pair.GetValue(), true
		}
	}
	return "", false
}

// rank returns the data-parallel rank that a series names: vLLM calls it engine,
// SGLang dp_rank.
func (l labels) rank() (string, bool) {
	if rank, ok := l.get("engine"); ok {
		return rank, true
	}
	return l.get("dp_rank")
}

// valueOf returns the value of a gauge, counter or untyped sample.
func valueOf(metric *dto.Metric) (float64, bool) {
	var value float64
	switch {
	case metric.Gauge != nil:
		value = metric.GetGauge().GetValue()
	case metric.Counter != nil:
		value = metric.GetCounter().GetValue()
	case metric.Untyped != nil:
		value = metric.GetUntyped().GetValue()
	default:
		return 0, false
	}
	// Neither a NaN nor an infinity is a count or a share of anything.
	return value, value >= 0 && value <= maxValue
}

// maxValue is beyond every count; larger ones cannot be told as integers.
const maxValue = 1 << 62
