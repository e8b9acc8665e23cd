/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"inferencecache.io/inference-cache/pkg/index"
)

// probes is the server as the one who probes it. It comes to the gRPC port like
// everybody else, with a token that never leaves the process but to that port.
type probes struct {
	token  string
	digest [sha256.Size]byte
	caller *caller
	// metrics count probes where nobody sees it: they are neither reports nor lookups
	// that anybody made.
	metrics *metrics
	// slots bound the probes at a time.
	slots chan struct{}
}

func newProbes(s *Server) *probes {
	// 52 base32 characters, 260 bits.
	token := rand.Text() + rand.Text()
	// Metrics that are registered nowhere cannot clash.
	unseen, _ := newMetrics(nil, s)
	return &probes{
		token:   token,
		digest:  sha256.Sum256([]byte(token)),
		caller:  &caller{who: Identity{Name: ReservedTenant}},
		metrics: unseen,
		slots:   make(chan struct{}, s.config.Limits.Probes),
	}
}

// owns reports whether a token is that of the probes. Its length is no secret.
func (p *probes) owns(token string) bool {
	if len(token) != len(p.token) {
		return false
	}
	digest := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(digest[:], p.digest[:]) == 1
}

// probing reports whether a call is part of a probe. What is asked is who was
// authenticated, not a name that somebody else may have as well.
func (s *Server) probing(ctx context.Context) bool {
	caller, err := callerFrom(ctx)
	return err == nil && caller == s.probes.caller
}

// metricsOf returns where a call is counted.
func (s *Server) metricsOf(ctx context.Context) *metrics {
	if s.probing(ctx) {
		return s.probes.metrics
	}
	return s.metrics
}

// counts is what the stream of a call adds to the open ones: a probe finds no room
// where an engine would find none, and takes none.
func (s *Server) counts(ctx context.Context) int64 {
	if s.probing(ctx) {
		return 0
	}
	return 1
}

// mayReport decides on a session: here on those of the reserved tenant and of probes,
// which are to be the same, and by the Authorizer on all others. The holder of a probe
// gets a namespace that no hello of anybody else can name.
func (s *Server) mayReport(ctx context.Context, who Identity, hello *index.Hello) (Permission, error) {
	switch {
	case s.probing(ctx):
		hello.Holder.Namespace = ReservedTenant
		return Permission{}, mayProbe(hello.Tenant)
	case hello.Tenant == ReservedTenant:
		return Permission{}, fmt.Errorf("hello.tenant_id: nobody may report for %s", ReservedTenant)
	}
	return s.config.Authorizer.MayReport(ctx, who, hello)
}

// mayProbe keeps probes to their tenant.
func mayProbe(tenant string) error {
	if tenant != ReservedTenant {
		return status.Errorf(codes.PermissionDenied, "a probe has no business with tenant %s", tenant)
	}
	return nil
}
