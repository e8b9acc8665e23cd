/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"

	"google.golang.org/grpc/codes"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

// Lookup answers a lookup and counts it. It is what every face of the index asks;
// whether the caller may ask is decided before.
func (s *Server) Lookup(ctx context.Context, r *routing.Request) routing.Response {
	start := s.config.Clock.Now()
	out := s.route(ctx, r)
	s.metrics.latency.Observe(s.config.Clock.Since(start).Seconds())
	s.metrics.lookups.WithLabelValues(string(out.Reason)).Inc()
	return out
}

func (s *Server) route(ctx context.Context, r *routing.Request) routing.Response {
	if r.Tenant == ReservedTenant {
		return noHint("the tenant " + ReservedTenant + " is reserved for probes")
	}
	return routing.Route(ctx, s.config.Index, r)
}

// LookupRoute answers a router. It is an error only when the caller may not ask.
func (s *Server) LookupRoute(ctx context.Context, req *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	if err := s.mayLookup(ctx, req.GetTenantId()); err != nil {
		return nil, err
	}
	start := s.config.Clock.Now()
	r, err := requestOf(req)
	var answer routing.Response
	if err != nil {
		answer = noHint(err.Error())
		s.metrics.lookups.WithLabelValues(string(answer.Reason)).Inc()
	} else {
		answer = s.Lookup(ctx, r)
	}
	out := responseOf(&answer)
	out.AdapterId = req.GetAdapterId()
	out.ObservedBy = s.config.Name
	now := s.config.Clock.Now()
	out.Complete = s.config.Index.Complete(now)
	out.LookupLatencyUs = now.Sub(start).Microseconds()
	return out, nil
}

// mayLookup decides on a question about a tenant.
func (s *Server) mayLookup(ctx context.Context, tenant string) error {
	who, err := identityFrom(ctx)
	if err != nil {
		return err
	}
	if err := s.config.Authorizer.MayLookup(ctx, who, tenant); err != nil {
		return refusal(err, codes.PermissionDenied)
	}
	return nil
}

// noHint answers what cannot be looked up.
func noHint(why string) routing.Response {
	return routing.Response{Reason: routing.NoHint, Explanation: why}
}
