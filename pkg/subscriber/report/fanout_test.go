/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
)

// names is a resolver whose answer can be changed.
type names struct {
	mu        sync.Mutex
	addresses []netip.Addr
}

func (n *names) set(addresses ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses = nil
	for _, address := range addresses {
		n.addresses = append(n.addresses, netip.MustParseAddr(address))
	}
}

func (n *names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addresses, nil
}

// config returns how to report to a server as the engine of a backend.
func config(server *indexservertest.Instance) (report.Config, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	return report.Config{
		Server: server.Address, TokenFile: server.TokenFile, CAFile: server.CAFile,
		Identity: report.Identity{
			Namespace: "team-a", Pod: "pod-0", BackendNamespace: "team-a", Backend: "cache",
			Tenant: "team-a", Model: "m", HashScheme: "vllm", Engine: "vllm", ClientVersion: "test",
		},
		Metrics: report.NewMetrics(registry),
	}, registry
}

// run reports engines that are heard until the test ends.
func run(t *testing.T, c report.Config, journals ...*report.Journal) {
	t.Helper()
	for _, j := range journals {
		j.Connected()
	}
	runFanout(t, c, journals...)
}

// runFanout reports until the test ends.
func runFanout(t *testing.T, c report.Config, journals ...*report.Journal) {
	t.Helper()
	f, err := report.NewFanout(c, journals...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = f.Run(ctx) // ends with the context only
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func absorb(j *report.Journal, hash uint64, token uint32) {
	j.Absorb(&kvevents.Batch{Timestamp: 1, Events: []kvevents.Event{{
		Kind: kvevents.BlockStored, BlockSize: 1, Hashes: []kvevents.Hash{kvevents.IntHash(hash)}, Tokens: []uint32{token},
	}}})
}

// sequenceOf returns the sequence that a server has applied for the only holder.
func sequenceOf(server *indexservertest.Instance) uint64 {
	views, _ := server.Index.Holders(server.Clock.Now())
	if len(views) != 1 {
		return 0
	}
	return views[0].Sequence
}

func TestFanoutReportsAllRanks(t *testing.T) {
	server := indexservertest.Start(t)
	first := report.NewJournal(report.JournalOptions{})
	second := report.NewJournal(report.JournalOptions{Rank: 1})
	absorb(first, 1, 1)
	absorb(second, 1, 1)
	c, _ := config(server)
	run(t, c, first, second)
	indexservertest.Await(t, "both ranks", func() bool {
		views, _ := server.Index.Holders(server.Clock.Now())
		return len(views) == 2 && views[0].Sequence == 1 && views[1].Sequence == 1
	})
}

// TestFanoutFollowsTheResolver has one address that answers and one that does not:
// the one takes nothing from the other.
func TestFanoutFollowsTheResolver(t *testing.T) {
	server := indexservertest.Start(t)
	j := report.NewJournal(report.JournalOptions{Window: time.Nanosecond})
	c, registry := config(server)
	_, port, err := net.SplitHostPort(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	resolver, ticks := &names{}, clocktesting.NewFakeClock(time.Unix(1, 0))
	// The addresses of the other family are the same replicas again.
	resolver.set("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1")
	c.Server, c.ServerName, c.Resolver, c.Clock = "index.test:"+port, "127.0.0.1", resolver, ticks
	run(t, c, j)
	absorb(j, 1, 1)
	indexservertest.Await(t, "the reachable replica", func() bool { return sequenceOf(server) == 1 })
	series := func() int {
		n, err := testutil.GatherAndCount(registry, "inferencecache_subscriber_sessions")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	indexservertest.Await(t, "a session each", func() bool { return series() == 2 })
	resolver.set("127.0.0.1")
	indexservertest.Await(t, "the end of the other replica", func() bool {
		ticks.Step(10 * time.Second)
		return series() == 1
	})
	absorb(j, 2, 2)
	indexservertest.Await(t, "the next delta", func() bool { return sequenceOf(server) == 2 })
}

func TestFanoutComesBack(t *testing.T) {
	server := indexservertest.Start(t)
	j := report.NewJournal(report.JournalOptions{Window: time.Nanosecond})
	c, _ := config(server)
	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.TokenFile = wrong
	absorb(j, 1, 1)
	run(t, c, j)
	// The kubelet replaces a token file; the next session reads the new one.
	if err := os.WriteFile(wrong, []byte(server.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	indexservertest.Await(t, "the session with the new token", func() bool { return sequenceOf(server) == 1 })
	before := j.Position().Epoch
	j.Restart("")
	absorb(j, 2, 2)
	indexservertest.Await(t, "the new epoch", func() bool {
		views, _ := server.Index.Holders(server.Clock.Now())
		return len(views) == 1 && views[0].Epoch > before && views[0].Sequence == 1 && views[0].State == index.Live
	})
}

func TestFanoutRefusesBadAddresses(t *testing.T) {
	server := indexservertest.Start(t)
	c, _ := config(server)
	c.Server = "no-port"
	if _, err := report.NewFanout(c); err == nil || !strings.Contains(err.Error(), "no-port") {
		t.Errorf("error %v, want one that names the address", err)
	}
}
