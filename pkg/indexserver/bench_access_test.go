/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// BenchmarkAuthorizedLookup measures a lookup whose token and tenant are known, from
// the headers of its call, in alternation with one of which nobody asks whose it is.
func BenchmarkAuthorizedLookup(b *testing.B) {
	s := newServer(b)
	openSeeded(b, s)
	request := &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TopK: 4}
	for _, hash := range []uint64{1, 2, 3} {
		request.PackedBlockHashes = fingerprint.AppendWire(request.PackedBlockHashes, hash)
	}
	// About the length of a token that is bound to a Pod.
	token := "x" + string(make([]byte, 1000))
	s.config.Authenticator = SingleToken(token, Identity{Name: "router"})
	ctx := metadata.NewIncomingContext(b.Context(), metadata.Pairs("authorization", "Bearer "+token))
	authorized := func() {
		ctx, err := s.authenticate(ctx)
		if err == nil {
			_, err = s.LookupRoute(ctx, request)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	// Both kinds run in rounds, so that what else the machine does meets both, and the
	// middle one of each counts.
	const round = 16
	var with, without []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range round {
			authorized()
		}
		between := time.Now()
		for range round {
			s.answer(ctx, request)
		}
		with, without = append(with, between.Sub(start)), append(without, time.Since(between))
	}
	slices.Sort(with)
	slices.Sort(without)
	authorizedTime, openTime := with[len(with)/2], without[len(without)/2]
	b.ReportMetric(float64(authorizedTime.Nanoseconds())/round, "p50-authorized-ns")
	b.ReportMetric(float64(openTime.Nanoseconds())/round, "p50-open-ns")
	b.ReportMetric(float64(authorizedTime)/float64(openTime), "authorized/open")
}
