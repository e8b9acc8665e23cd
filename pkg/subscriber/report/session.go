/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// Identity is who reports, and about what.
type Identity struct {
	// Namespace and Pod name the engine's Pod.
	Namespace, Pod string
	// BackendNamespace and Backend name the CacheBackend that the engine belongs
	// to; empty leaves that to the index.
	BackendNamespace, Backend string
	// Tenant, Model and HashScheme are the scope of what the engine holds.
	Tenant, Model, HashScheme string
	// Engine names the engine's software, until a journal knows better.
	Engine string
	// ClientVersion is the version of this program.
	ClientVersion string
}

const (
	// defaultLease is assumed when a server does not name one.
	defaultLease = 15 * time.Second
	// heartbeatsPerLease is how often a silent session shows that it lives.
	heartbeatsPerLease = 3
	// helloTimeout bounds the wait for the answer to a hello.
	helloTimeout = 10 * time.Second
)

// errOutdated ends a session whose hello does not hold any more, because a new
// epoch began or the engine's name has become known; the next one begins at once.
var errOutdated = errors.New("the hello of the session does not hold any more")

// session is one stream about one rank to one address of the index.
type session struct {
	// cancel ends the stream, gate lets snapshots through.
	cancel context.CancelFunc
	gate   *gate
	// heartbeat ticks when the session has to show that it lives.
	heartbeat clock.Ticker
	journal   *Journal
	identity  Identity
	stream    pb.InferenceCache_ReportClient
	clock     clock.WithTicker
	metrics   *sessionMetrics

	// epoch is the one the session is about, next the delta to send next.
	epoch, next uint64
	// engine is the name that the journal knew at the hello.
	engine string
	// sentStats are the statistics sent last.
	sentStats *pb.EngineStats
	// resync is signalled when the server wants a snapshot, failed carries how
	// receiving ended.
	resync chan string
	failed chan error
	// receiving: another goroutine owns the receiving side of the stream.
	receiving bool
}

// runSession opens a stream and reports on it until it ends or ctx does. Healthy
// tells whether the server had accepted the session by then.
func runSession(ctx context.Context, client pb.InferenceCacheClient, j *Journal, id Identity, g *gate, m *sessionMetrics) (healthy bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.Report(ctx)
	if err != nil {
		return false, fmt.Errorf("opening a report stream: %w", err)
	}
	s := &session{
		cancel: cancel, gate: g, journal: j, identity: id, stream: stream, clock: g.clock, metrics: m,
		resync: make(chan string, 1), failed: make(chan error, 1),
	}
	reply, err := s.hello()
	if err != nil {
		return false, err
	}
	logr.FromContextOrDiscard(ctx).Info("Session with the index established", "index", reply.GetObservedBy(), "epoch", s.epoch)
	m.connected(true)
	defer m.connected(false)
	s.receiving = true
	go s.receive()
	return true, s.report(ctx, reply)
}

// hello opens the session. A server that does not answer in time ends the stream.
func (s *session) hello() (*pb.HelloReply, error) {
	position := s.journal.Position()
	s.epoch, s.engine = position.Epoch, position.Engine
	engine := position.Engine
	if engine == "" {
		engine = s.identity.Engine
	}
	hello := &pb.Hello{
		Holder:         &pb.Holder{Namespace: s.identity.Namespace, Pod: s.identity.Pod, Rank: s.journal.Rank()},
		TenantId:       s.identity.Tenant,
		ModelId:        s.identity.Model,
		HashScheme:     s.identity.HashScheme,
		Engine:         engine,
		Epoch:          position.Epoch,
		OldestSequence: position.Oldest,
		LastSequence:   position.Last,
		Adapters:       position.Adapters,
		ClientVersion:  s.identity.ClientVersion,
	}
	if s.identity.Backend != "" {
		hello.Backend = &pb.BackendRef{Namespace: s.identity.BackendNamespace, Name: s.identity.Backend}
	}
	if err := s.send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}}); err != nil {
		return nil, err
	}
	timer := s.clock.NewTimer(helloTimeout)
	defer timer.Stop()
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		select {
		case <-timer.C():
			s.cancel()
		case <-answered:
		}
	}()
	response, err := s.stream.Recv()
	if err != nil {
		return nil, fmt.Errorf("waiting for the answer to the hello: %w", err)
	}
	reply := response.GetHello()
	if reply == nil {
		return nil, errors.New("the index did not answer the hello with a hello")
	}
	return reply, nil
}

// receive takes what the server sends until the stream ends.
func (s *session) receive() {
	for {
		response, err := s.stream.Recv()
		if err != nil {
			s.failed <- err
			return
		}
		switch message := response.GetMessage().(type) {
		case *pb.ReportResponse_Ack:
			s.metrics.acknowledged(message.Ack.GetSequence())
		case *pb.ReportResponse_Resync:
			select {
			case s.resync <- message.Resync.GetReason():
			default: // one snapshot answers any number of requests
			}
		}
	}
}

// report sends what the reply asks for, and then whatever is new.
func (s *session) report(ctx context.Context, reply *pb.HelloReply) error {
	lease := time.Duration(reply.GetLeaseMs()) * time.Millisecond
	if lease <= 0 {
		lease = defaultLease
	}
	s.heartbeat = s.clock.NewTicker(max(lease/heartbeatsPerLease, time.Millisecond))
	defer s.heartbeat.Stop()
	if limit := reply.GetMaxMessageBytes(); limit > 0 && limit < 1<<20 {
		return fmt.Errorf("the index takes messages of up to %d bytes, but has to take 1 MiB", limit)
	}
	s.next = reply.GetResumeFrom()
	if reply.GetSnapshotWanted() {
		if err := s.sendSnapshot(ctx, "the index asked for it in its hello"); err != nil {
			return err
		}
	}
	for {
		changed, err := s.sendNews(ctx)
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-s.heartbeat.C():
			if err := s.sendHeartbeat(); err != nil {
				return err
			}
		case reason := <-s.resync:
			if err := s.sendSnapshot(ctx, reason); err != nil {
				return err
			}
		case err := <-s.failed:
			return streamError(err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sendNews sends everything that the journal has and returns what is closed when
// it has more.
func (s *session) sendNews(ctx context.Context) (<-chan struct{}, error) {
	for {
		r := s.journal.Read(s.epoch, s.next)
		switch {
		case r.Restarted, r.Engine != s.engine:
			return nil, errOutdated
		case r.Behind:
			if err := s.sendSnapshot(ctx, "the session fell behind"); err != nil {
				return nil, err
			}
			continue
		}
		if r.Stats != nil && r.Stats != s.sentStats {
			if err := s.send(&pb.ReportRequest{Message: &pb.ReportRequest_Stats{Stats: r.Stats}}); err != nil {
				return nil, err
			}
			s.sentStats = r.Stats
		}
		for _, delta := range r.Deltas {
			if err := s.send(&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: delta}}); err != nil {
				return nil, err
			}
			s.next = delta.GetSequence() + 1
			s.metrics.deltas.Inc()
		}
		if len(r.Deltas) == 0 || s.next > r.Last {
			return r.Changed, nil
		}
	}
}

func (s *session) sendHeartbeat() error {
	return s.send(&pb.ReportRequest{Message: &pb.ReportRequest_Heartbeat{
		// Next is 0 while the index waits for its first snapshot.
		Heartbeat: &pb.Heartbeat{LastSequence: max(s.next, 1) - 1},
	}})
}

// send sends one message. The reason why a stream has ended is known to its
// receiving side only.
func (s *session) send(request *pb.ReportRequest) error {
	err := s.stream.Send(request)
	if !errors.Is(err, io.EOF) {
		return err
	}
	if s.receiving {
		return streamError(<-s.failed)
	}
	_, err = s.stream.Recv()
	return streamError(err)
}

// streamError gives the end of a stream a name.
func streamError(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the index ended the stream")
	}
	return err
}
