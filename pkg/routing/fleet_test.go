/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"strings"
	"testing"
	"time"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

const (
	tenant    = "team"
	model     = "llama"
	scheme    = "vllm"
	blockSize = 16
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// fleet is an index under test with the engines that report to it.
type fleet struct {
	t       testing.TB
	x       *index.Index
	streams map[string]index.Stream
	last    map[string]uint64
	// policy and tokenizer are those of the tenant; nil for none.
	policy    *Policy
	tokenizer Tokenizer
}

// Policy implements Policies.
func (f *fleet) Policy(of string) *Policy {
	if of != tenant {
		return nil
	}
	return f.policy
}

func newFleet(t testing.TB) *fleet {
	t.Helper()
	return &fleet{
		t: t, x: index.New(index.Options{WarmUp: -1}, start),
		streams: map[string]index.Stream{}, last: map[string]uint64{},
	}
}

// engine connects an engine with one full-attention group.
func (f *fleet) engine(pod string) *fleet {
	f.t.Helper()
	f.open(pod, scheme)
	return f.apply(pod,
		index.Change{Op: index.DeclareScope, Scope: index.Scope{BlockSize: blockSize}},
		index.Change{Op: index.DeclareGroup, Group: index.Group{Kind: index.FullGroup, BlockSize: blockSize}})
}

func (f *fleet) open(pod, hashScheme string) {
	f.t.Helper()
	stream, _, err := f.x.Open(index.Hello{
		Holder: index.Holder{Namespace: "team", Pod: pod}, Tenant: tenant, Model: model, HashScheme: hashScheme, Epoch: 1,
	}, start)
	if err != nil {
		f.t.Fatal(err)
	}
	f.streams[pod] = stream
}

// apply reports the next delta of an engine.
func (f *fleet) apply(pod string, changes ...index.Change) *fleet {
	f.t.Helper()
	f.last[pod]++
	outcome, err := f.x.Delta(f.streams[pod], f.last[pod], changes, start, start)
	if err != nil || outcome != index.Applied {
		f.t.Fatalf("delta of %s: outcome %d, %v", pod, outcome, err)
	}
	return f
}

// holds stores a chain in a tier of an engine.
func (f *fleet) holds(pod string, tier index.Tier, certainty index.Certainty, chain []uint64) *fleet {
	f.t.Helper()
	return f.apply(pod, index.Change{Op: index.Store, Tier: tier, Certainty: certainty, Hashes: chain})
}

// reports replaces an engine's statistics.
func (f *fleet) reports(pod string, s index.Stats) *fleet {
	f.t.Helper()
	if err := f.x.SetStats(f.streams[pod], s); err != nil {
		f.t.Fatal(err)
	}
	return f
}

// loses ends an engine's stream.
func (f *fleet) loses(pod string) *fleet {
	f.x.Close(f.streams[pod], start)
	return f
}

// router answers from the fleet.
func (f *fleet) router() *Router {
	return New(Config{Index: f.x, Policies: f, Tokenizer: f.tokenizer})
}

// route asks about the fleet's model.
func (f *fleet) route(r Request) Response {
	f.t.Helper()
	r.Tenant, r.Model = tenant, model
	if r.Now.IsZero() {
		r.Now = start
	}
	return f.router().Route(f.t.Context(), &r)
}

// under sets the policy of the fleet's tenant, with the default costs.
func (f *fleet) under(p Policy) *fleet {
	p.Costs = DefaultCosts()
	f.policy = &p
	return f
}

// pods names the replicas of an answer in their order.
func pods(r Response) string {
	var names []string
	for _, replica := range r.Replicas {
		names = append(names, replica.Holder.Pod)
	}
	return strings.Join(names, " ")
}

// prompt returns n token ids from first on, and the chain that they make.
func prompt(first, n uint32) ([]uint32, []uint64) {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = first + uint32(i)
	}
	return ids, fingerprint.Chain(nil, fingerprint.Parent{}, ids, blockSize)
}

func running(n int64) index.Stats { return index.Stats{Time: start, Running: &n} }

func waiting(n int64) index.Stats { return index.Stats{Time: start, Waiting: &n} }
