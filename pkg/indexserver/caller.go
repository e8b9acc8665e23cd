/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// decisionTTL is how long the word of an Authenticator or an Authorizer stands.
	// A router asks thousands of times a second, and to ask a cluster about it
	// costs more than the lookup; a token that is revoked is good for this much
	// longer. What is refused is asked for again each time, within the bounds of mistakes.
	decisionTTL = 5 * time.Second
	// maxCallers and maxTenants bound what is remembered. More of either are legal
	// and only cost the asking.
	maxCallers = 4096
	maxTenants = 1024
)

// caller is who makes calls, with what was decided about it lately.
type caller struct {
	who Identity
	// until is when the identity has to be asked for again.
	until time.Time

	mu sync.RWMutex
	// tenants are those that the caller may ask about, until when.
	tenants map[string]time.Time
}

// mayAsk reports whether questions about a tenant were allowed lately.
func (c *caller) mayAsk(tenant string, now time.Time) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	until, ok := c.tenants[tenant]
	return ok && now.Before(until)
}

// allow remembers that questions about a tenant were allowed.
func (c *caller) allow(tenant string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tenants == nil || len(c.tenants) >= maxTenants {
		c.tenants = map[string]time.Time{}
	}
	c.tenants[tenant] = now.Add(decisionTTL)
}

// digest stands for a token, which itself is not kept.
type digest [sha256.Size]byte

// credentials finds callers by their token. The zero value is empty.
type credentials struct {
	mu      sync.RWMutex
	callers map[digest]*caller
	// asking has the questions that are under way: a thousand calls whose token was
	// just forgotten are one question.
	asking singleflight.Group
}

// find returns the caller that has sent this token lately, or nil.
func (c *credentials) find(d digest, now time.Time) *caller {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if known := c.callers[d]; known != nil && now.Before(known.until) {
		return known
	}
	return nil
}

// remember returns the caller of a token that was just found good.
func (c *credentials) remember(d digest, who Identity, now time.Time) *caller {
	fresh := &caller{who: who, until: now.Add(decisionTTL)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers == nil || len(c.callers) >= maxCallers {
		c.callers = map[digest]*caller{}
	}
	c.callers[d] = fresh
	return fresh
}

// identify returns the caller whose token this is, asking when that is not known.
// What was asked is not given up with the call that asked first.
func (s *Server) identify(ctx context.Context, token string) (*caller, error) {
	d := digest(sha256.Sum256([]byte(token)))
	if known := s.credentials.find(d, s.config.Clock.Now()); known != nil {
		s.metrics.knownCallers.Inc()
		return known, nil
	}
	asked := s.credentials.asking.DoChan(string(d[:]), func() (any, error) {
		return s.ask(context.WithoutCancel(ctx), d, token)
	})
	select {
	case result := <-asked:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*caller), nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// ask hands a token to the Authenticator, unless its peer has sent too many wrong
// ones: each costs the cluster a review, and who has none that is right has nothing
// to lose by trying.
func (s *Server) ask(ctx context.Context, d digest, token string) (*caller, error) {
	from := addressOf(ctx)
	if !s.mistakes.forgives(from, s.config.Clock.Now()) {
		s.metrics.refused.WithLabelValues(refusedUnasked).Inc()
		return nil, status.Error(codes.Unauthenticated, tooManyMistakes)
	}
	s.metrics.askedCallers.Inc()
	who, err := s.config.Authenticator.Authenticate(ctx, token)
	now := s.config.Clock.Now()
	if err == nil {
		return s.credentials.remember(d, who, now), nil
	}
	err = refusal(err, codes.Unauthenticated)
	if status.Code(err) == codes.Unauthenticated {
		s.mistakes.note(from, now)
		s.metrics.refused.WithLabelValues(refusedToken).Inc()
	} else {
		s.metrics.refused.WithLabelValues(refusedUndecided).Inc()
	}
	return nil, err
}
