/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

// MaxLookups is the largest number of lookups in one LookupRoutes.
const MaxLookups = 256

// Lookup answers a lookup and counts it. It is what every face of the index asks;
// whether the caller may ask is decided before. It sets the request's time.
func (s *Server) Lookup(ctx context.Context, r *routing.Request) routing.Response {
	out, _ := s.lookup(ctx, r, s.config.Clock.Now())
	return out
}

// lookup is Lookup for callers that know the time, and tells them what it has
// become.
func (s *Server) lookup(ctx context.Context, r *routing.Request, start time.Time) (routing.Response, time.Time) {
	ctx, span := startLookup(ctx)
	r.Now = start
	out := s.route(ctx, r)
	now := s.config.Clock.Now()
	if span != nil {
		endLookup(span, &out, s.config.Index.Complete(now))
	}
	m := s.metrics
	if r.Tenant == ReservedTenant {
		m = s.metricsOf(ctx)
	}
	m.latency.Observe(now.Sub(start).Seconds())
	m.answered(out.Reason)
	return out, now
}

// route applies the policy's deadline. What works with the request's own data
// takes microseconds and is not interrupted: an answer that comes too late is
// replaced. Only a tokenizer has to be told.
func (s *Server) route(ctx context.Context, r *routing.Request) routing.Response {
	if r.Tenant == ReservedTenant && !s.probing(ctx) {
		return noHint("the tenant " + ReservedTenant + " is reserved for probes")
	}
	timeout := s.router.Policy(r.Tenant).Timeout
	if timeout <= 0 {
		return s.router.Route(ctx, r)
	}
	if r.Text != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	out := s.router.Route(ctx, r)
	if s.config.Clock.Since(r.Now) < timeout {
		return out
	}
	late := routing.Response{Reason: routing.Timeout}
	if r.Explain {
		late.Explanation = "the policy's lookupTimeoutMs passed"
	}
	return late
}

// LookupRoute answers a router. It is an error only when the caller may not ask.
func (s *Server) LookupRoute(ctx context.Context, req *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	if err := s.mayLookup(ctx, req.GetTenantId()); err != nil {
		return nil, err
	}
	return s.answer(ctx, req), nil
}

// LookupRoutes answers several lookups. It is an error when the caller may not ask
// one of them, and then none is answered.
func (s *Server) LookupRoutes(ctx context.Context, req *pb.LookupRoutesRequest) (*pb.LookupRoutesResponse, error) {
	requests := req.GetRequests()
	if len(requests) > MaxLookups {
		return nil, status.Errorf(codes.InvalidArgument, "requests: %d lookups, at most %d are taken", len(requests), MaxLookups)
	}
	for i, r := range requests {
		if i > 0 && r.GetTenantId() == requests[i-1].GetTenantId() {
			continue
		}
		if err := s.mayLookup(ctx, r.GetTenantId()); err != nil {
			return nil, status.Errorf(status.Code(err), "requests[%d]: %s", i, status.Convert(err).Message())
		}
	}
	out := &pb.LookupRoutesResponse{Responses: make([]*pb.LookupRouteResponse, len(requests))}
	for i, r := range requests {
		out.Responses[i] = s.answer(ctx, r)
	}
	return out, nil
}

// answer answers a lookup that the caller may make.
func (s *Server) answer(ctx context.Context, req *pb.LookupRouteRequest) *pb.LookupRouteResponse {
	start := s.config.Clock.Now()
	q := s.questions.Get().(*question)
	q.read(req, s.router.Policy(req.GetTenantId()).IgnoreChains)
	answer, now := s.lookup(ctx, &q.Request, start)
	out := responseOf(&answer, now)
	q.reset(answer.Replicas)
	s.questions.Put(q)
	out.AdapterId = req.GetAdapterId()
	out.ObservedBy = s.config.Name
	out.Complete = s.config.Index.Complete(now)
	out.LookupLatencyUs = max(now.Sub(start), 0).Microseconds()
	return out
}

// mayLookup decides on a question about a tenant. One whose name is too long is nobody's,
// which the answer says.
func (s *Server) mayLookup(ctx context.Context, tenant string) error {
	caller, err := callerFrom(ctx)
	if err != nil || len(tenant) > maxWordBytes {
		return err
	}
	if caller == s.probes.caller {
		return mayProbe(tenant)
	}
	now, last := s.config.Clock.Now(), caller.tenant(tenant)
	if last.stands(now) {
		s.metrics.knownTenants.Inc()
		return nil
	}
	if last.given.IsZero() {
		if err := s.untold.enter(ctx, addressOf(ctx), s.config.Clock, errTooManyTenants); err != nil {
			return err
		}
		defer s.untold.leave()
	}
	return s.decideLookup(ctx, caller, tenant, last)
}

// errTooManyTenants refuses a question about a tenant without asking.
var errTooManyTenants = status.Error(codes.PermissionDenied, "too many questions about tenants that were refused came from this address; it is asked again in a moment")

// decideLookup asks whether a caller may ask about a tenant, about which last was said.
func (s *Server) decideLookup(ctx context.Context, caller *caller, tenant string, last word) error {
	now := s.config.Clock.Now()
	s.metrics.askedTenants.Inc()
	asking := ctx
	if last.outlives(now) {
		var cancel context.CancelFunc
		asking, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	err := s.config.Authorizer.MayLookup(asking, caller.who, tenant)
	if err == nil {
		caller.decide(tenant, newWord(now))
		return nil
	}
	err = refusal(err, codes.PermissionDenied)
	switch {
	case status.Code(err) == codes.PermissionDenied:
		caller.forgetTenant(tenant)
		s.untold.mistakes.note(addressOf(ctx), now)
	case last.outlives(now) && ctx.Err() == nil:
		ttl := decisionTTL
		if asking.Err() != nil {
			ttl = unansweredTTL
		}
		caller.decide(tenant, last.kept(now, ttl))
		return nil
	}
	return err
}

// noHint answers what cannot be looked up.
func noHint(why string) routing.Response {
	return routing.Response{Reason: routing.NoHint, Explanation: why}
}
