/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"google.golang.org/grpc/peer"
)

const (
	// mistakeBurst is how many mistakes an address may make at once, wrong tokens or
	// tenants that are not its own, and mistakeEvery how often it may make one more. A sidecar whose token is wrong tries
	// every few seconds; a node has some dozens of them, behind its address when they
	// use its network.
	mistakeBurst = 64
	mistakeEvery = 250 * time.Millisecond
	// maxAddresses bounds the addresses that are told apart. The rest are one.
	maxAddresses = 4096
)

// mistakes counts what was refused by the address that it came from, so that guessing costs
// the cluster a bounded number of reviews and delays nobody elsewhere. The zero value
// is usable.
type mistakes struct {
	mu sync.Mutex
	// clean is when an address has nothing held against it any more: every mistake
	// moves it by mistakeEvery.
	clean map[netip.Addr]time.Time
}

// forgives reports whether a question for an address is worth asking.
func (m *mistakes) forgives(from netip.Addr, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clean[m.bucket(from)].Sub(now) <= (mistakeBurst-1)*mistakeEvery
}

// note counts what was refused.
func (m *mistakes) note(from netip.Addr, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clean == nil {
		m.clean = map[netip.Addr]time.Time{}
	}
	if len(m.clean) >= maxAddresses {
		for address, clean := range m.clean {
			if !clean.After(now) {
				delete(m.clean, address)
			}
		}
	}
	from = m.bucket(from)
	clean := m.clean[from]
	if clean.Before(now) {
		clean = now
	}
	m.clean[from] = clean.Add(mistakeEvery)
}

// bucket is what an address is counted as: itself, or, when there are too many, the
// address that none has.
func (m *mistakes) bucket(from netip.Addr) netip.Addr {
	if _, ok := m.clean[from]; !ok && len(m.clean) >= maxAddresses {
		return netip.Addr{}
	}
	return from
}

// addressOf returns the address of a call's peer, without its port; the zero address
// when it has none.
func addressOf(ctx context.Context) netip.Addr {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return netip.Addr{}
	}
	address, err := netip.ParseAddrPort(p.Addr.String())
	if err != nil {
		return netip.Addr{}
	}
	return address.Addr().Unmap().WithZone("")
}
