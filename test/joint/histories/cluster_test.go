/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
	"inferencecache.io/inference-cache/pkg/subscriber/source"
)

// The scope of everything in a history.
const (
	namespace = "team"
	modelName = "llama"
	scheme    = "test"
)

// replica is one address of the index.
type replica struct {
	wire  *wire
	index *index.Index
}

// start begins the life of an index server that knows nothing.
func (r *replica) start() {
	r.index = index.New(index.Options{WarmUp: -1}, time.Now())
	server, err := indexserver.New(indexserver.Config{
		Index: r.index, Name: "index", Authorizer: indexserver.AllowAll{},
		Authenticator: indexserver.SingleToken("none", indexserver.Identity{}), TLS: &tls.Config{MinVersion: tls.VersionTLS13},
	})
	if err != nil {
		panic(err)
	}
	r.wire.listen(server)
}

// stop kills the server; what it knew is gone.
func (r *replica) stop() {
	r.wire.listen(nil)
	r.index = nil
}

// applied says which message a journal had taken when its sequence was so and so.
type applied struct {
	epoch, before, after uint64
	// moment is the position in engine.truth.
	moment int
}

// recorder is a journal that remembers when it took what.
type recorder struct {
	*report.Journal

	mu      *sync.Mutex
	applied *[]applied
}

// Absorb implements source.Sink.
func (r *recorder) Absorb(batch *kvevents.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.Position()
	r.Journal.Absorb(batch)
	*r.applied = append(*r.applied, applied{
		epoch: before.Epoch, before: before.Last, after: r.Position().Last, moment: int(batch.Timestamp),
	})
}

// subscriber is the sidecar of one engine through all of its lives.
type subscriber struct {
	name     string
	engine   *engine
	replicas []*replica
	source   *source.RankMetrics
	report   *report.Metrics

	mu      sync.Mutex
	applied []applied
	journal *report.Journal
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// LookupNetIP finds the replicas of the index, wherever they are.
func (s *subscriber) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	var addresses []netip.Addr
	for i := range s.replicas {
		addresses = append(addresses, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	return addresses, nil
}

func (s *subscriber) connect(address string) (report.Connection, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return report.Connection{}, err
	}
	c := &caller{wire: s.replicas[at.Addr().As4()[3]].wire, name: s.name}
	return report.Connection{InferenceCacheClient: c, Closer: c}, nil
}

// start begins a life of the sidecar.
func (s *subscriber) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	shape := s.engine.model.shape
	s.journal = report.NewJournal(report.JournalOptions{
		Mirror: mirror.Options{Engine: shape.engine, AdaptersLoadedOnce: shape.loadedOnce}, MaxDeltas: 8,
	})
	options := source.Options{
		Engine: s.engine, Metrics: s.source,
		Sink: &recorder{Journal: s.journal, mu: &s.mu, applied: &s.applied},
	}
	if shape.engine == mirror.SGLang {
		options.FirstSeen = 1
	}
	fanout, err := report.NewFanout(report.Config{
		Server: "index:9090", Resolver: s, Connect: s.connect, Metrics: s.report,
		Identity: report.Identity{Namespace: namespace, Pod: s.name, Tenant: namespace, Model: modelName, HashScheme: scheme},
	}, s.journal)
	if err != nil {
		panic(err)
	}
	s.running.Go(func() { source.New(options).Run(ctx) })
	s.running.Go(func() { _ = fanout.Run(ctx) }) // it ends with ctx
}

// stop kills the sidecar.
func (s *subscriber) stop() {
	s.cancel()
	s.running.Wait()
	s.cancel = nil
}

// floor is the earliest moment of the engine that a replica can be showing when
// it has applied a delta. None says that it cannot be showing anything.
func (s *subscriber) floor(epoch, sequence uint64) (moment int, none bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	moment = -1
	for _, a := range s.applied {
		if a.epoch != epoch {
			continue
		}
		included := a.after < sequence || (a.after == sequence && a.after > a.before)
		if included || moment < 0 {
			moment = a.moment
		}
	}
	return moment, moment < 0
}

func (s *subscriber) holder() index.Holder {
	return index.Holder{Namespace: namespace, Pod: s.name}
}

func engineName(i int) string { return fmt.Sprintf("engine-%d", i) }
