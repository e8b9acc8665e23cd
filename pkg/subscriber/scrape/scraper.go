/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

const (
	// DefaultInterval is the time between two scrapes.
	DefaultInterval = 10 * time.Second
	// maxTimeout bounds one scrape.
	maxTimeout = 5 * time.Second
	// staleAfter is how many scrapes in a row may fail before it is worth a line.
	staleAfter = 3
)

// Sink takes the statistics of one rank.
type Sink interface {
	// SetStats replaces the statistics, which are not changed afterwards.
	SetStats(*pb.EngineStats)
	// SetCapacity tells the number of blocks in the engine's own memory.
	SetCapacity(blocks int64)
	// SetEngine tells the name of the engine's software, as in "vllm/0.32.0".
	SetEngine(name string)
}

// Config configures a [Scraper].
type Config struct {
	// URL is the engine's page of metrics.
	URL string
	// Profile says which engine it is.
	Profile Profile
	// Interval is the time between two scrapes; 0 is the default.
	Interval time.Duration
	// ConcurrencyCeiling is the number of requests at which an engine counts as
	// fully loaded.
	ConcurrencyCeiling int
	// CacheBytes is the size of the engine's cache, 0 when that is not known.
	CacheBytes int64
	// Client is used for requests; nil is a client without a proxy.
	Client *http.Client
	// Registerer takes the scraper's own metrics.
	Registerer prometheus.Registerer
	// Clock is the wall clock when it is nil.
	Clock clock.WithTicker
}

// Scraper reads one engine's metrics for all of its ranks.
type Scraper struct {
	config   Config
	sinks    []Sink
	counters []lifetimes
	up       prometheus.Gauge
	failures prometheus.Counter
	failed   int
	// asked is how often the engine was asked for its version.
	asked int
}

// New returns a scraper that is not running yet; sinks are those of the ranks, in
// their order.
func New(config Config, sinks ...Sink) *Scraper {
	if config.Interval <= 0 {
		config.Interval = DefaultInterval
	}
	if config.Client == nil {
		config.Client = &http.Client{Transport: &http.Transport{}}
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	s := &Scraper{
		config: config, sinks: sinks, counters: make([]lifetimes, len(sinks)),
		up: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "inferencecache_subscriber_engine_metrics_up",
			Help: "1 while the engine's own metrics can be read.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "inferencecache_subscriber_engine_metrics_failures_total",
			Help: "Attempts to read the engine's own metrics that failed.",
		}),
	}
	config.Registerer.MustRegister(s.up, s.failures)
	return s
}

// Run scrapes until ctx ends.
func (s *Scraper) Run(ctx context.Context) {
	ticker := s.config.Clock.NewTicker(s.config.Interval)
	defer ticker.Stop()
	for {
		s.attempt(ctx)
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
	}
}

// attempt scrapes once and notes how that went.
func (s *Scraper) attempt(ctx context.Context) {
	logger := logr.FromContextOrDiscard(ctx)
	err := s.scrape(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.failures.Inc()
		s.up.Set(0)
		if s.failed++; s.failed == staleAfter {
			logger.Error(err, "The engine's load is not known", "url", s.config.URL, "remedy", "check --engine-metrics-url and that the engine serves metrics; an empty URL switches this off")
		}
	default:
		s.up.Set(1)
		if s.failed >= staleAfter {
			logger.Info("The engine's load is known again", "url", s.config.URL)
		}
		s.failed = 0
		s.identify(ctx)
	}
}

func (s *Scraper) scrape(ctx context.Context) error {
	var readings []Reading
	err := s.get(ctx, s.config.URL, func(page io.Reader) (err error) {
		readings, err = Parse(page, s.config.Profile, len(s.sinks))
		return err
	})
	if err != nil {
		return err
	}
	now := s.config.Clock.Now().UnixMicro()
	for rank, reading := range readings {
		s.sinks[rank].SetCapacity(reading.Blocks)
		s.sinks[rank].SetStats(s.stats(now, &reading, &s.counters[rank]))
	}
	return nil
}

// get asks the engine for a page and lets it be read.
func (s *Scraper) get(ctx context.Context, address string, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(s.config.Interval, maxTimeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := s.config.Client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // only read from
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", address, response.Status)
	}
	return read(response.Body)
}

// stats turns a reading into what is reported.
func (s *Scraper) stats(now int64, r *Reading, l *lifetimes) *pb.EngineStats {
	stats := &pb.EngineStats{
		TimeUs:        now,
		Running:       whole(r.Running),
		Waiting:       whole(r.Waiting),
		CacheUsage:    r.CacheUsage,
		HitTokens:     l.hit.next(r.HitTokens),
		QueryTokens:   l.query.next(r.QueryTokens),
		T2HitTokens:   l.t2Hit.next(r.T2HitTokens),
		T2QueryTokens: l.t2Query.next(r.T2QueryTokens),
	}
	if r.CacheUsage != nil {
		usage := min(1, *r.CacheUsage)
		stats.CacheUsage = &usage
		if s.config.CacheBytes > 0 {
			bytes := int64(usage * float64(s.config.CacheBytes))
			stats.CacheMemoryBytes = &bytes
		}
	}
	if r.Running != nil && r.Waiting != nil && s.config.ConcurrencyCeiling > 0 {
		pressure := min(1, (*r.Running+*r.Waiting)/float64(s.config.ConcurrencyCeiling))
		stats.Pressure = &pressure
	}
	return stats
}

func whole(value *float64) *int64 {
	if value == nil {
		return nil
	}
	n := int64(*value)
	return &n
}

// lifetimes are the counters of one rank over restarts of the engine.
type lifetimes struct{ hit, query, t2Hit, t2Query lifetime }

// lifetime is a counter that does not fall when the engine starts anew.
type lifetime struct{ before, last float64 }

// next returns the count after a reading, nil when there is none.
func (l *lifetime) next(value *float64) *int64 {
	if value == nil {
		return nil
	}
	if *value < l.last {
		l.before += l.last
	}
	l.last = *value
	total := int64(min(l.before+l.last, maxValue))
	return &total
}
