/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
	"inferencecache.io/inference-cache/pkg/subscriber/scrape"
	"inferencecache.io/inference-cache/pkg/subscriber/source"
)

// Subscriber is the whole sidecar.
type Subscriber struct {
	opts     Options
	registry *prometheus.Registry
	listener net.Listener
	sources  []*source.Source
	journals []*report.Journal
	fanout   *report.Fanout
	scraper  *scrape.Scraper
}

// sglangFirst is the sequence with which a live stream of SGLang may begin: its
// first message, a clear, is published before anybody can listen.
const sglangFirst = 1

// New returns a subscriber with valid options that is not running yet. It has
// taken the address for its metrics.
func New(opts Options) (*Subscriber, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	s := &Subscriber{opts: opts, registry: prometheus.NewRegistry()}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := s.addRanks(); err != nil {
		return nil, err
	}
	backendNamespace, backend := opts.backend()
	fanout, err := report.NewFanout(report.Config{
		Server: opts.Server, TokenFile: opts.TokenFile, CAFile: opts.CAFile, ServerName: opts.TLSServerName,
		Identity: report.Identity{
			Namespace: opts.namespace(), Pod: opts.ReplicaID,
			BackendNamespace: backendNamespace, Backend: backend,
			Tenant: opts.TenantID, Model: opts.ModelID, HashScheme: opts.HashScheme,
			Engine: opts.HashScheme, ClientVersion: opts.ClientVersion,
		},
		Metrics: report.NewMetrics(s.registry),
	}, s.journals...)
	if err != nil {
		return nil, err
	}
	s.fanout = fanout
	s.registry.MustRegister(report.NewJournalCollector(s.journals...))
	s.addScraper()
	if opts.MetricsBindAddress != noBind {
		if s.listener, err = net.Listen("tcp", opts.MetricsBindAddress); err != nil {
			return nil, problem("metrics-bind-address", opts.MetricsBindAddress, err.Error(), "use another port, or 0 for none")
		}
	}
	return s, nil
}

// addRanks makes a source and a journal for each rank.
func (s *Subscriber) addRanks() error {
	live, err := parseEndpoint("engine-endpoint", s.opts.EngineEndpoint, s.opts.DataParallelSize)
	if err != nil {
		return err
	}
	var replay endpoint
	if s.opts.EngineReplayEndpoint != "" {
		if replay, err = parseEndpoint("engine-replay-endpoint", s.opts.EngineReplayEndpoint, s.opts.DataParallelSize); err != nil {
			return err
		}
	}
	metrics := source.NewMetrics(s.registry)
	for rank := range s.opts.DataParallelSize {
		journal := report.NewJournal(report.JournalOptions{
			Rank: uint32(rank), Window: s.opts.Window, Mirror: s.mirrorOptions(),
		})
		sockets := &source.Sockets{Endpoint: live.ofRank(rank), Topic: s.opts.Topic}
		if s.opts.EngineReplayEndpoint != "" {
			sockets.ReplayEndpoint = replay.ofRank(rank)
		}
		options := source.Options{Engine: sockets, Sink: journal, Metrics: metrics.Rank(uint32(rank))}
		if s.opts.HashScheme == string(scrape.SGLang) {
			options.FirstSeen = sglangFirst
		}
		s.journals = append(s.journals, journal)
		s.sources = append(s.sources, source.New(options))
	}
	return nil
}

func (s *Subscriber) mirrorOptions() mirror.Options {
	options := mirror.Options{
		Engine:             mirror.VLLM,
		Removals:           removalRules()[s.opts.BlockRemoved],
		KeepRemoved:        s.opts.IgnoreBlockRemoved,
		AdaptersLoadedOnce: s.opts.AdaptersLoadedOnce,
		Seed:               rand.Uint64(),
	}
	if s.opts.HashScheme == string(scrape.SGLang) {
		options.Engine = mirror.SGLang
	}
	return options
}

func (s *Subscriber) addScraper() {
	if s.opts.EngineMetricsURL == "" {
		return
	}
	sinks := make([]scrape.Sink, len(s.journals))
	for i, journal := range s.journals {
		sinks[i] = journal
	}
	s.scraper = scrape.New(scrape.Config{
		URL: s.opts.EngineMetricsURL, Profile: scrape.Profile(s.opts.HashScheme), Interval: s.opts.StatsInterval,
		ConcurrencyCeiling: s.opts.MaxConcurrencyCeiling, CacheBytes: s.opts.EngineCacheSizeBytes,
		Registerer: s.registry,
	}, sinks...)
}

// Run works until ctx ends, or until its metrics cannot be served any more.
func (s *Subscriber) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for rank, src := range s.sources {
		logger := logr.FromContextOrDiscard(ctx).WithValues("rank", rank)
		running.Go(func() { src.Run(logr.NewContext(ctx, logger)) })
	}
	if s.scraper != nil {
		running.Go(func() { s.scraper.Run(ctx) })
	}
	if s.listener != nil {
		running.Go(func() {
			if err := s.serve(ctx); err != nil {
				cancel(fmt.Errorf("serving metrics: %w", err))
			}
		})
	}
	err := s.fanout.Run(ctx)
	running.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}
