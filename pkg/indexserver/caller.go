/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// decisionTTL is how long the word of an Authenticator or an Authorizer stands.
	// A router asks thousands of times a second, and to ask a cluster about it
	// costs more than the lookup; a token that is revoked is good for this much
	// longer. What is refused is asked for again each time.
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

// credentials finds callers by their token, of which only a digest is kept. The
// zero value is empty.
type credentials struct {
	mu      sync.RWMutex
	callers map[[sha256.Size]byte]*caller
}

// find returns the caller that has sent this token lately, or nil.
func (c *credentials) find(token string, now time.Time) *caller {
	digest := sha256.Sum256([]byte(token))
	c.mu.RLock()
	defer c.mu.RUnlock()
	if known := c.callers[digest]; known != nil && now.Before(known.until) {
		return known
	}
	return nil
}

// remember returns the caller of a token that was just found good.
func (c *credentials) remember(token string, who Identity, now time.Time) *caller {
	digest := sha256.Sum256([]byte(token))
	fresh := &caller{who: who, until: now.Add(decisionTTL)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers == nil || len(c.callers) >= maxCallers {
		c.callers = map[[sha256.Size]byte]*caller{}
	}
	c.callers[digest] = fresh
	return fresh
}
