/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// Settings of a connection. The index accepts pings every ten seconds.
const (
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
	// A replica that has been restarted is wanted back soon.
	connectBaseDelay = 100 * time.Millisecond
	connectMaxDelay  = 3 * time.Second
	// maxResponseBytes bounds one answer: a batch of 256 rankings.
	maxResponseBytes = 64 << 20
)

// standing says how good a replica is to ask, best first.
type standing int32

const (
	// serving: it knows all engines.
	serving standing = iota
	// unknown: it has not been heard yet.
	unknown
	// incomplete: it still misses engines.
	incomplete
	// failing: it could not be asked, or it came too late.
	failing
)

// String names a standing in logs.
func (s standing) String() string {
	return [...]string{"serving", "unknown", "incomplete", "failing"}[s]
}

// peer is one replica of the index. It is safe for concurrent use.
type peer struct {
	address, host string
	options       *Options
	connection    *grpc.ClientConn
	client        pb.InferenceCacheClient
	inFlight      atomic.Int64
	// lane is the stream that lookups share, nil while there is none.
	lane atomic.Pointer[lane]

	// ctx ends with the peer.
	ctx  context.Context
	stop context.CancelFunc

	// standing is read without mu and written under it. demotions counts how often
	// it became failing.
	standing  atomic.Int32
	mu        sync.Mutex
	demotions int
}

// newPeer returns a replica that is not connected yet; the first lookup or health
// check connects it. The peer ends with ctx, but has to be closed as well.
func newPeer(ctx context.Context, address, host string, options *Options, token *fileToken) (*peer, error) {
	name := options.ServerName
	if name == "" {
		name = host
	}
	dial := []grpc.DialOption{
		grpc.WithTransportCredentials(newRootsFile(options.CAFile, name)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: connectBaseDelay, Multiplier: 1.6, Jitter: 0.2, MaxDelay: connectMaxDelay},
			MinConnectTimeout: connectMaxDelay,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxResponseBytes)),
		grpc.WithDisableServiceConfig(),
		grpc.WithNoProxy(),
	}
	if token != nil {
		dial = append(dial, grpc.WithPerRPCCredentials(token))
	}
	connection, err := grpc.NewClient("passthrough:///"+address, dial...)
	if err != nil {
		return nil, err
	}
	p := &peer{
		address: address, host: host, options: options,
		connection: connection, client: pb.NewInferenceCacheClient(connection),
	}
	p.ctx, p.stop = context.WithCancel(ctx)
	p.standing.Store(int32(unknown))
	return p, nil
}

// close ends everything that goes over the connection.
func (p *peer) close() {
	p.stop()
	_ = p.connection.Close() // it only fails when it is closed already
}

// run keeps an eye on the replica until the peer ends.
func (p *peer) run() {
	ticker := time.NewTicker(p.options.HealthInterval)
	defer ticker.Stop()
	lanes := lanePace{life: laneLife}
	for {
		p.check()
		lanes.keep(p)
		select {
		case <-ticker.C:
		case <-p.ctx.Done():
			return
		}
	}
}

// check asks the replica how it is. A lookup that fails meanwhile knows better.
func (p *peer) check() {
	ctx, cancel := context.WithTimeout(p.ctx, p.options.HealthInterval)
	defer cancel()
	p.mu.Lock()
	before := p.demotions
	p.mu.Unlock()
	request := &grpc_health_v1.HealthCheckRequest{Service: pb.InferenceCache_ServiceDesc.ServiceName}
	response, err := grpc_health_v1.NewHealthClient(p.connection).Check(ctx, request)
	next := incomplete
	switch {
	case err == nil && response.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING:
		next = serving
	case status.Code(err) == codes.Unimplemented, status.Code(err) == codes.NotFound:
		// It does not speak of its health; its answers will say.
		next = serving
	case err != nil:
		p.demote(err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.demotions == before {
		p.setLocked(next)
	}
}

// answered takes from an answer that came in time what it says of the replica.
func (p *peer) answered(complete bool) {
	next := incomplete
	if complete {
		next = serving
	}
	if standing(p.standing.Load()) == next {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setLocked(next)
}

// demote puts the replica last until the next health check that begins after this.
func (p *peer) demote(why error) {
	// The connection is ours to close, and calls on it are ours to end.
	if p.ctx.Err() != nil || errors.Is(why, context.Canceled) || status.Code(why) == codes.Canceled {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.demotions++
	if standing(p.standing.Load()) != failing {
		p.options.Logger.V(2).Info("Index replica does not answer", "address", p.address, "err", why.Error())
	}
	p.standing.Store(int32(failing))
}

// setLocked changes the standing for the better, or at least to one that answers.
func (p *peer) setLocked(next standing) {
	if before := standing(p.standing.Swap(int32(next))); before != next {
		p.options.Logger.V(2).Info("Index replica has changed", "address", p.address, "before", before.String(), "now", next.String())
	}
}
