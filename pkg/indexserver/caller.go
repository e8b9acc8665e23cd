/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"crypto/sha256"
	"maps"
	"reflect"
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
	// longer. What is refused is asked for again each time, within the bounds of strangers.
	decisionTTL = 5 * time.Second
	// outageTTL is how long after it was last given the word stands when nobody can be
	// asked: routers and engines that were known outlive an outage of the cluster.
	outageTTL = 10 * time.Minute
	// patience is how long a question may take before the last word stands in for its
	// answer, which a cluster gives in milliseconds. Routers wait about that long.
	patience = time.Second
	// unansweredTTL is how long the last word stands then. To ask a cluster that hangs
	// each time the word lapses would hold up every lookup of the caller each time. What
	// it says about a token counts as soon as it is there.
	unansweredTTL = 30 * time.Second
	// maxCallers and maxTenants bound what is remembered. More of either are legal
	// and only cost the asking.
	maxCallers = 4096
	maxTenants = 1024
)

// word is a decision that was for the caller.
type word struct {
	// given is when, and until how long it stands without asking.
	given, until time.Time
}

func newWord(now time.Time) word { return word{given: now, until: now.Add(decisionTTL)} }

// stands reports whether nobody has to be asked.
func (w word) stands(now time.Time) bool { return now.Before(w.until) }

// outlives reports whether the word counts although nobody could be asked.
func (w word) outlives(now time.Time) bool { return now.Sub(w.given) < outageTTL }

// kept returns the word as it stands a while longer, but not beyond what it outlives.
func (w word) kept(now time.Time, ttl time.Duration) word {
	w.until = now.Add(ttl)
	if last := w.given.Add(outageTTL); w.until.After(last) {
		w.until = last
	}
	return w
}

// caller is who makes calls, with what was decided about it lately.
type caller struct {
	who Identity

	mu sync.RWMutex
	// known is that the token was found good.
	known word
	// tenants are those that the caller may ask about.
	tenants map[string]word
}

// identity returns what was last said about the caller's token.
func (c *caller) identity() word {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.known
}

// tenant returns what was last said about questions about a tenant.
func (c *caller) tenant(tenant string) word {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.tenants[tenant]
}

// decide remembers what was decided about questions about a tenant.
func (c *caller) decide(tenant string, w word) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tenants == nil || len(c.tenants) >= maxTenants {
		c.tenants = map[string]word{}
	}
	c.tenants[tenant] = w
}

// forgetTenant forgets what was decided, because it is not so any more.
func (c *caller) forgetTenant(tenant string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tenants, tenant)
}

// keep lets the last word about the token stand a while longer.
func (c *caller) keep(now time.Time, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = c.known.kept(now, ttl)
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

// find returns the caller that has sent this token, or nil. What was said about it
// may be too old to stand.
func (c *credentials) find(d digest) *caller {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.callers[d]
}

// remember returns the caller of a token that was just found good. What was decided
// about its tenants goes on to count when it is the same one.
func (c *credentials) remember(d digest, who Identity, now time.Time) *caller {
	fresh := &caller{who: who, known: newWord(now)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before := c.callers[d]; before != nil && reflect.DeepEqual(before.who, who) {
		before.mu.RLock()
		fresh.tenants = maps.Clone(before.tenants)
		before.mu.RUnlock()
	}
	if c.callers == nil || len(c.callers) >= maxCallers {
		c.callers = map[digest]*caller{}
	}
	c.callers[d] = fresh
	return fresh
}

// forget forgets a token that is not good any more.
func (c *credentials) forget(d digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.callers, d)
}

// identify returns the caller whose token this is, asking when that is not known.
// What was asked is not given up with the call that asked first.
func (s *Server) identify(ctx context.Context, token string) (*caller, error) {
	if s.probes.owns(token) {
		return s.probes.caller, nil
	}
	d := digest(sha256.Sum256([]byte(token)))
	known, now := s.credentials.find(d), s.config.Clock.Now()
	if known != nil && known.identity().stands(now) {
		s.metrics.knownCallers.Inc()
		return known, nil
	}
	// A token that was found good, lately or when its stream was opened, is no guess.
	review := watchFrom(ctx) != nil
	guess := known == nil && !review
	key := string(d[:])
	if guess {
		// What keeps guesses from being asked about decides on nobody else.
		key += "?"
	}
	asked := s.credentials.asking.DoChan(key, func() (any, error) {
		if guess {
			return s.guess(context.WithoutCancel(ctx), d, token)
		}
		return s.ask(context.WithoutCancel(ctx), d, token)
	})
	var enough <-chan time.Time
	// Nobody waits for the review of a stream, so it has time for the answer.
	if !review && known != nil && known.identity().outlives(now) {
		timer := s.config.Clock.NewTimer(patience)
		defer timer.Stop()
		enough = timer.C()
	}
	select {
	case result := <-asked:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*caller), nil
	case <-enough:
		known.keep(s.config.Clock.Now(), unansweredTTL)
		return known, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// errTooManyMistakes refuses a token that was not looked at.
var errTooManyMistakes = status.Error(codes.Unauthenticated, "too many wrong tokens came from this address; it is asked again in a moment")

// guess asks about a token that may be one of many, unless its peer has sent too many
// wrong ones: who has none that is right has nothing to lose by trying.
func (s *Server) guess(ctx context.Context, d digest, token string) (*caller, error) {
	if err := s.unknown.enter(ctx, addressOf(ctx), s.config.Clock, errTooManyMistakes); err != nil {
		why := refusedUnasked
		if status.Code(err) != codes.Unauthenticated {
			why = refusedUndecided
		}
		s.metrics.refused.WithLabelValues(why).Inc()
		return nil, err
	}
	defer s.unknown.leave()
	return s.ask(ctx, d, token)
}

// ask hands a token to the Authenticator.
func (s *Server) ask(ctx context.Context, d digest, token string) (*caller, error) {
	s.metrics.askedCallers.Inc()
	who, err := s.config.Authenticator.Authenticate(ctx, token)
	now := s.config.Clock.Now()
	if err == nil {
		return s.credentials.remember(d, who, now), nil
	}
	err = refusal(err, codes.Unauthenticated)
	if status.Code(err) == codes.Unauthenticated {
		s.credentials.forget(d)
		s.unknown.mistakes.note(addressOf(ctx), now)
		s.metrics.refused.WithLabelValues(refusedToken).Inc()
		return nil, err
	}
	if known := s.credentials.find(d); known != nil && known.identity().outlives(now) {
		known.keep(now, decisionTTL)
		return known, nil
	}
	s.metrics.refused.WithLabelValues(refusedUndecided).Inc()
	return nil, err
}
