/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// resolveInterval is how often the name of the index is looked up, for replicas
// that come and go.
const resolveInterval = 10 * time.Second

// Resolver looks a host name up; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Connection is what one session is held over. It is closed with the session.
type Connection struct {
	pb.InferenceCacheClient
	io.Closer
}

// Config says where a [Fanout] reports to, and as whom.
type Config struct {
	// Server is the index, as host:port. Every address of the host gets all
	// reports.
	Server string
	// TokenFile holds the bearer token; empty sends none.
	TokenFile string
	// CAFile holds the certificates that the index is verified with; empty means
	// those of the system.
	CAFile string
	// ServerName is the name on the index's certificate; the host of Server when
	// it is empty.
	ServerName string
	// Identity is who reports.
	Identity Identity
	// Metrics are required.
	Metrics *Metrics
	// Connect opens a connection to one address of the index, once per session.
	// It dials with the files above when it is nil.
	Connect func(address string) (Connection, error)
	// Resolver is the system's when it is nil.
	Resolver Resolver
	// Clock is the wall clock when it is nil.
	Clock clock.WithTicker
}

// Fanout reports journals to all replicas of the index.
type Fanout struct {
	config     Config
	host, port string
	journals   []*Journal
	peers      map[string]*peer
	gate       *gate
}

// NewFanout returns a fanout that is not running yet. The error names what is
// wrong with the configuration.
func NewFanout(config Config, journals ...*Journal) (*Fanout, error) {
	host, port, err := net.SplitHostPort(config.Server)
	if err != nil {
		return nil, fmt.Errorf("address of the index: %w", err)
	}
	if config.Resolver == nil {
		config.Resolver = net.DefaultResolver
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	if config.Connect == nil {
		config.Connect = config.dial
	}
	return &Fanout{
		config: config, host: host, port: port, journals: journals, peers: map[string]*peer{}, gate: newGate(config.Clock),
	}, nil
}

// Run reports until ctx ends.
func (f *Fanout) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	defer func() {
		for _, p := range f.peers {
			p.cancel()
		}
	}()
	ticker := f.config.Clock.NewTicker(resolveInterval)
	defer ticker.Stop()
	for {
		f.reconcile(ctx, &running)
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return nil
		}
	}
}

// reconcile starts sessions with new addresses and ends those with addresses that
// are gone. When the name cannot be looked up everything stays as it is.
func (f *Fanout) reconcile(ctx context.Context, running *sync.WaitGroup) {
	logger := logr.FromContextOrDiscard(ctx)
	addresses, err := f.resolve(ctx)
	if err != nil {
		if ctx.Err() == nil {
			logger.Error(err, "The index cannot be found; its known addresses stay", "server", f.config.Server, "known", len(f.peers))
		}
		return
	}
	for address, p := range f.peers {
		if !slices.Contains(addresses, address) {
			logger.Info("Index replica is gone", "address", address)
			p.cancel()
			delete(f.peers, address)
		}
	}
	for _, address := range addresses {
		if f.peers[address] != nil {
			continue
		}
		logger.Info("Reporting to an index replica", "address", address)
		peerCtx, cancel := context.WithCancel(ctx)
		p := &peer{address: address, config: &f.config, journals: f.journals, gate: f.gate, cancel: cancel}
		f.peers[address] = p
		running.Go(func() { p.run(peerCtx) })
	}
}

// resolve returns the addresses of the index.
func (f *Fanout) resolve(ctx context.Context) ([]string, error) {
	if _, err := netip.ParseAddr(f.host); err == nil {
		return []string{net.JoinHostPort(f.host, f.port)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveInterval/2)
	defer cancel()
	ips, err := f.config.Resolver.LookupNetIP(ctx, "ip", f.host)
	if err != nil {
		return nil, err
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("%s has no address", f.host)
	}
	var addresses []string
	for _, ip := range oneFamily(ips) {
		addresses = append(addresses, net.JoinHostPort(ip.String(), f.port))
	}
	slices.Sort(addresses)
	return slices.Compact(addresses), nil
}

// oneFamily returns the IPv4 addresses, or all of them when there are none. A
// replica with an address of each family must not get two sessions, of which each
// would supersede the other.
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
