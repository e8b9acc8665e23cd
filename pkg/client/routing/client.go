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

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// ErrClosed is in answers of a client that has been closed.
var ErrClosed = errors.New("the lookup client is closed")

// Client asks the replicas of an index. It is safe for concurrent use; one per
// router is enough.
type Client struct {
	options Options
	members *members
	// hedges counts the replicas that are being asked because another one is slow.
	hedges atomic.Int64
	// ctx ends with Close.
	ctx   context.Context
	close func()
}

// New returns a client that looks for the index in the background. It does not wait
// for it, so that a router starts without one. The error names everything that is
// wrong with the options, files that cannot be read included.
func New(options Options) (*Client, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{options: options, members: newMembers(ctx, options), ctx: ctx}
	c.close = sync.OnceFunc(func() {
		cancel()
		c.members.close()
	})
	return c, nil
}

// Close ends all connections and waits for that. Lookups under way get no hint,
// and so do later ones.
func (c *Client) Close() { c.close() }

// Lookup asks who should serve a prompt. It returns when a replica of the index has
// answered, when none can, or after Options.Timeout or the context's own deadline,
// whichever is first. It never fails: an answer without a hint means to route as
// if there were no index.
func (c *Client) Lookup(ctx context.Context, query Query) Answer {
	// Hashing the prompt is part of the time.
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	request, err := query.request()
	if err != nil {
		return failed(err)
	}
	response, err := race(ctx, c, single{request})
	if err != nil {
		return failed(err)
	}
	return answerOf(response)
}

// single asks one lookup: on the lane of the replica, or by a call.
type single struct{ request *pb.LookupRouteRequest }

// start implements question.
func (s single) start(ctx context.Context, p *peer, reply func(*pb.LookupRouteResponse, error)) {
	// Text takes as long as its tokenizer, and lookups behind it would wait.
	if lane := p.lane.Load(); lane != nil && s.request.GetPromptText() == "" {
		taken := lane.ask(s.request, func(response *pb.LookupRouteResponse, err error) {
			if err != nil {
				// The lane is gone, and perhaps not the replica.
				go s.call(ctx, p, reply)
				return
			}
			reply(response, nil)
		})
		if taken {
			return
		}
	}
	go s.call(ctx, p, reply)
}

// call asks by a call of its own.
func (s single) call(ctx context.Context, p *peer, reply func(*pb.LookupRouteResponse, error)) {
	reply(p.client.LookupRoute(ctx, s.request))
}

// complete implements question.
func (single) complete(response *pb.LookupRouteResponse) bool { return response.GetComplete() }

// late tells whether a replica that has not answered after some time has taken too
// long for any lookup, and not only for a caller in a hurry.
func (c *Client) late(after time.Duration) bool {
	return after >= c.options.Timeout/paces
}
