/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/routelookup"
	"inferencecache.io/inference-cache/pkg/routing"
)

// Router answers and counts lookups, under the policy of their tenant.
type Router interface {
	Lookup(ctx context.Context, r *routing.Request) routing.Response
}

// Lookuper answers routelookups with what LookupRoute would, and always with the
// reasoning: people ask to understand. That they ask is no use of what they find,
// so it does not keep blocks from being evicted.
type Lookuper struct {
	Source

	// Router is what LookupRoute asks as well.
	Router Router
	// NamespaceOf returns the namespace that a tenant belongs to; nil where whoever may
	// ask may ask about all of them.
	NamespaceOf func(tenant string) string
}

var _ routelookup.Lookuper = Lookuper{}

// Lookup implements routelookup.Lookuper. Without a tenant the namespace of the
// lookup is the tenant. Who may create routelookups in a namespace has thereby the
// right to ask about its tenants, and about no others.
func (l Lookuper) Lookup(ctx context.Context, namespace string, lookup *inferencecache.RouteLookup) error {
	request, err := routeRequest(namespace, &lookup.Spec)
	if err != nil {
		return err
	}
	if l.NamespaceOf != nil && l.NamespaceOf(request.Tenant) != namespace {
		return apierrors.NewForbidden(inferencecache.Resource("routelookups"), lookup.Name,
			fmt.Errorf("spec.tenantID: tenant %s does not belong to namespace %s", request.Tenant, namespace))
	}
	now := l.Clock.Now()
	answer := l.Router.Lookup(ctx, request)
	lookup.Status = inferencecache.RouteLookupStatus{
		Reason:      inferencecache.RouteReason(answer.Reason),
		Explanation: answer.Explanation,
		Tokens:      int64(answer.PromptTokens),
		ObservedBy:  l.Name,
		AsOf:        ptr.To(metav1.NewMicroTime(now)),
		Complete:    l.Index.Complete(now),
	}
	for i := range answer.Replicas {
		lookup.Status.Replicas = append(lookup.Status.Replicas, candidate(&answer.Replicas[i]))
	}
	return nil
}

// routeRequest translates a valid spec. The length of the prompt follows from
// token ids, or from a chain that comes with counts.
func routeRequest(namespace string, spec *inferencecache.RouteLookupSpec) (*routing.Request, error) {
	r := &routing.Request{
		Tenant:     spec.TenantID,
		Model:      spec.ModelID,
		HashScheme: spec.HashScheme,
		Adapter:    spec.AdapterID,
		Salt:       spec.CacheSalt,
		TopK:       int(ptr.Deref(spec.TopK, 0)),
		Explain:    true,
		Quiet:      true,
	}
	if r.Tenant == "" {
		r.Tenant = namespace
	}
	for _, text := range spec.BlockHashes {
		hash, err := parseHash(text)
		if err != nil {
			return nil, err
		}
		r.Chain = append(r.Chain, hash)
	}
	for _, n := range spec.BlockTokenCounts {
		r.ChainCounts = append(r.ChainCounts, int32(n))
		r.PromptTokens += int(n)
	}
	if spec.PrefixHash != "" {
		hash, err := parseHash(spec.PrefixHash)
		if err != nil {
			return nil, err
		}
		r.PrefixHash = &hash
	}
	for _, id := range spec.TokenIDs {
		r.Tokens = append(r.Tokens, uint32(id))
	}
	return r, nil
}

// parseHash reads a block key in its textual form.
func parseHash(text string) (uint64, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 8 {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("block hash %q is not 16 hex digits", text))
	}
	return binary.BigEndian.Uint64(b), nil
}

func candidate(r *routing.Replica) inferencecache.RouteCandidate {
	c := inferencecache.RouteCandidate{
		Namespace:     r.Holder.Namespace,
		Pod:           r.Holder.Pod,
		Rank:          int32(r.Holder.Rank),
		MatchedTokens: int64(r.Tokens),
		// They are parts of what the index counts in an int32.
		T2Tokens:                 int32(r.T2Tokens),
		T3Tokens:                 int32(r.T3Tokens),
		Exact:                    r.Exact,
		Inferred:                 r.Inferred,
		State:                    stateOf(r.State),
		Sequence:                 int64(r.Sequence),
		ExpectedTTFTMilliseconds: milliseconds(r.Cost.TTFT()),
		Score:                    milliseconds(r.Score),
		Explanation:              r.Explanation,
	}
	if r.Tokens > 0 {
		c.Tier = tierOf(r.Tier)
	}
	return c
}

// milliseconds writes a time with the digits that a float32 has, which is what the
// same answer has over gRPC.
func milliseconds(ms float64) string {
	return strconv.FormatFloat(ms, 'f', -1, 32)
}
