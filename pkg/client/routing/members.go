/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// members keeps the replicas of the index that there are.
type members struct {
	options Options
	token   *fileToken

	// current has the replicas ordered by address; it is replaced, never changed.
	current atomic.Pointer[[]*peer]
	// resolved is closed when all host names have been looked up once, with or
	// without success. failure then is the last error of each lookup that failed.
	resolved chan struct{}
	failure  atomic.Pointer[error]
	running  sync.WaitGroup
}

// newMembers returns members of which those named by an address are known at once.
func newMembers(ctx context.Context, options Options) *members {
	m := &members{options: options, resolved: make(chan struct{})}
	if options.TokenFile != "" {
		m.token = &fileToken{path: options.TokenFile}
	}
	m.current.Store(&[]*peer{})
	found, names := m.literal()
	m.replace(ctx, found)
	if names == 0 {
		close(m.resolved)
		return m
	}
	m.running.Go(func() { m.follow(ctx) })
	return m
}

// wait blocks until host names have been looked up once, or until ctx ends.
func (m *members) wait(ctx context.Context) {
	select {
	case <-m.resolved:
	case <-ctx.Done():
	}
}

// absence says why there is no replica.
func (m *members) absence() error {
	if failure := m.failure.Load(); failure != nil && *failure != nil {
		return fmt.Errorf("no replica of the index is known: %w", *failure)
	}
	return errors.New("no replica of the index is known")
}

// close waits until everything has ended that ctx has stopped.
func (m *members) close() {
	m.running.Wait()
	for _, p := range *m.current.Swap(&[]*peer{}) {
		p.close()
	}
}

// literal returns the servers that are named by an address, and how many are not.
func (m *members) literal() (found map[string]string, names int) {
	found = map[string]string{}
	for _, server := range m.options.Servers {
		// The options have been checked.
		host, port, _ := net.SplitHostPort(server)
		if _, err := netip.ParseAddr(host); err != nil {
			names++
			continue
		}
		found[net.JoinHostPort(host, port)] = host
	}
	return found, names
}

// follow looks the names up until ctx ends.
func (m *members) follow(ctx context.Context) {
	ticker := time.NewTicker(m.options.ResolveInterval)
	defer ticker.Stop()
	for first := true; ; first = false {
		found, err := m.resolve(ctx)
		if ctx.Err() != nil {
			return
		}
		// The first failure in a row is news; the others say the same.
		if before := m.failure.Swap(&err); err != nil && (before == nil || *before == nil) {
			m.options.Logger.Error(err, "The index cannot be found; its known addresses stay")
		}
		m.replace(ctx, found)
		if first {
			close(m.resolved)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// resolve returns the host that each address was found by. The addresses of a host
// that cannot be looked up are those that it had.
func (m *members) resolve(ctx context.Context) (found map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.options.ResolveInterval)
	defer cancel()
	found, _ = m.literal()
	var failures []error
	for _, server := range m.options.Servers {
		host, port, _ := net.SplitHostPort(server)
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		ips, err := m.options.Resolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			failures = append(failures, err)
			for _, p := range *m.current.Load() {
				if p.host == host {
					found[p.address] = host
				}
			}
			continue
		}
		for _, ip := range oneFamily(ips) {
			found[net.JoinHostPort(ip.String(), port)] = host
		}
	}
	return found, errors.Join(failures...)
}

// replace starts peers for new addresses and ends those whose address is gone.
func (m *members) replace(ctx context.Context, found map[string]string) {
	var next []*peer
	for _, p := range *m.current.Load() {
		if _, stays := found[p.address]; stays {
			delete(found, p.address)
			next = append(next, p)
			continue
		}
		m.options.Logger.Info("Index replica is gone", "address", p.address)
		p.close()
	}
	for address, host := range found {
		p, err := newPeer(ctx, address, host, &m.options, m.token)
		if err != nil {
			m.options.Logger.Error(err, "Index replica cannot be used", "address", address)
			continue
		}
		m.options.Logger.Info("Found an index replica", "address", address)
		next = append(next, p)
		m.running.Go(p.run)
	}
	slices.SortFunc(next, func(a, b *peer) int { return strings.Compare(a.address, b.address) })
	m.current.Store(&next)
}

// oneFamily returns the IPv4 addresses, or all of them when there are none: one
// replica with an address of each family is still one.
func oneFamily(ips []netip.Addr) []netip.Addr {
	var v4 []netip.Addr
	for _, ip := range ips {
		if ip = ip.Unmap(); ip.Is4() {
			v4 = append(v4, ip)
		}
	}
	if len(v4) > 0 {
		return v4
	}
	return ips
}
