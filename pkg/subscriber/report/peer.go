/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// keepaliveInterval is how often an idle connection is probed, so that one to a
// node that has vanished does not look alive.
const keepaliveInterval = 30 * time.Second

// peer is one address of the index.
type peer struct {
	address  string
	config   *Config
	journals []*Journal
	gate     *gate
	cancel   context.CancelFunc
}

// run keeps a session for every journal until ctx ends.
func (p *peer) run(ctx context.Context) {
	var sessions sync.WaitGroup
	for _, j := range p.journals {
		sessions.Go(func() { p.keep(ctx, j) })
	}
	sessions.Wait()
	p.config.Metrics.forget(p.address)
}

// keep opens one session after the other while the engine is heard.
func (p *peer) keep(ctx context.Context, j *Journal) {
	logger := logr.FromContextOrDiscard(ctx).WithValues("address", p.address, "rank", j.Rank())
	ctx = logr.NewContext(ctx, logger)
	metrics := p.config.Metrics.session(p.address, j.Rank())
	var pause backoff
	failing := false
	for ctx.Err() == nil {
		heard, changed := j.state()
		if !heard {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		healthy, err := p.session(ctx, j, metrics, changed)
		if ctx.Err() != nil {
			return
		}
		if healthy {
			pause.reset()
			failing = false
		}
		switch {
		case errors.Is(err, errUnheard):
			logger.Info("The engine is not heard any more; its session with the index ended", "grace", Grace)
			continue
		case errors.Is(err, errOutdated):
			logger.V(2).Info("The hello does not hold any more; opening a new session")
			continue
		}
		metrics.failures.Inc()
		wait := pause.next()
		// The first failure in a row is news; the others say the same.
		if !failing {
			logger.Error(err, "Session with the index ended", "remedy", remedy(err))
			failing = true
		} else {
			logger.V(2).Info("Session with the index failed again", "err", err.Error(), "pause", wait)
		}
		select {
		case <-p.config.Clock.After(wait):
		case <-ctx.Done():
		}
	}
}

// session opens a connection and reports on it, until unheard is closed at the
// latest. A connection is made for every session, so that renewed certificates
// count.
func (p *peer) session(ctx context.Context, j *Journal, metrics *sessionMetrics, unheard <-chan struct{}) (healthy bool, err error) {
	connection, err := p.config.Connect(p.address)
	if err != nil {
		return false, err
	}
	defer func() { _ = connection.Close() }() // the stream has ended before
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-unheard:
			cancel(errUnheard)
		case <-ctx.Done():
		}
	}()
	healthy, err = runSession(ctx, connection, j, p.config.Identity, p.gate, metrics)
	if errors.Is(context.Cause(ctx), errUnheard) {
		err = errUnheard // however the stream calls it
	}
	return healthy, err
}

// dial opens a connection with TLS and, if there is one, the token.
func (c *Config) dial(address string) (Connection, error) {
	tlsConfig, err := fileCA{path: c.CAFile, serverName: c.ServerName}.config()
	if err != nil {
		return Connection{}, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(credentials.NewTLS(tlsConfig)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveInterval, Timeout: keepaliveInterval / 2}),
		grpc.WithNoProxy(),
	}
	if c.TokenFile != "" {
		options = append(options, grpc.WithPerRPCCredentials(fileToken{path: c.TokenFile}))
	}
	connection, err := grpc.NewClient("passthrough:///"+address, options...)
	if err != nil {
		return Connection{}, err
	}
	return Connection{InferenceCacheClient: pb.NewInferenceCacheClient(connection), Closer: connection}, nil
}

// remedy says what to do about the errors that do not go away by themselves.
func remedy(err error) string {
	switch status.Code(err) {
	case codes.Unauthenticated:
		return "check that --token-file holds a token the index accepts"
	case codes.PermissionDenied:
		return "check --namespace, --replica-id and --backend: only a Pod's own reports are accepted"
	case codes.Aborted:
		return "none needed if it comes back; else check that nobody else reports as this Pod"
	case codes.FailedPrecondition:
		return "check that nobody else reports as this Pod; after a step back of the clock it passes with the lease"
	case codes.InvalidArgument:
		return "check the flags that the message names"
	case codes.Unavailable:
		return "check --server, --ca-file and --tls-server-name if it does not come back"
	default:
		return "none needed if it comes back"
	}
}
