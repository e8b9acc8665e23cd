/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import "time"

// Policy is what the owner of a namespace wants of lookups. It is not changed
// once it is in use. Of the floors, 0 is off.
type Policy struct {
	// MinimumPrefixTokens is the shortest prefix that a lookup is answered for:
	// shorter prompts are not looked up, and a longest match below it is none.
	MinimumPrefixTokens int
	// MinimumMatchedTokens drops single replicas that match less.
	MinimumMatchedTokens int
	// FloorScore, when HasFloor is set, is the least score of the best replica, in
	// milliseconds saved.
	FloorScore float64
	HasFloor   bool
	// Timeout is the time that a lookup may take; 0 is as long as the caller waits.
	// Whoever calls Route applies it, because this package reads no clock.
	Timeout time.Duration
	// IgnoreChains makes lookups exact: a chain in the request is not looked at,
	// and one that is derived from tokens has to match as a whole.
	IgnoreChains bool
	// RequireChain refuses requests without a chain.
	RequireChain bool
	// NoTenantHot and NoAffinity switch off the hints for prompts that match nothing.
	NoTenantHot, NoAffinity bool
	// Costs rank the replicas.
	Costs Costs
}

// Unrestricted returns the policy of a namespace that has none.
func Unrestricted() *Policy { return &Policy{Costs: DefaultCosts()} }

// Policies finds the policy of a tenant. It is called once per lookup and
// concurrently, and neither waits nor allocates. nil means that there is none.
type Policies interface {
	Policy(tenant string) *Policy
}
