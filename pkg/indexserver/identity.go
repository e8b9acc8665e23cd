/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"inferencecache.io/inference-cache/pkg/index"
)

// Identity is who speaks, in the terms of Kubernetes' user info.
type Identity struct {
	Name   string
	UID    string
	Groups []string
	// Extra has what the authenticator knows besides, such as the Pod that a
	// token is bound to.
	Extra map[string][]string
}

// Authenticator says whose a token is. It is called concurrently, once at a time for
// one token and not again within decisionTTL, and every Config.ReviewInterval for the
// token of a stream. It compares secrets in constant time. An error refuses the call
// with Unauthenticated, or with its own code when it is a gRPC status, as for a token
// review that could not be made. The context has the peer of the call.
type Authenticator interface {
	Authenticate(ctx context.Context, token string) (Identity, error)
}

// Authorizer says what an identity may do. It is called concurrently. An error
// refuses the call with PermissionDenied and its text, or with its own code when
// it is a gRPC status.
type Authorizer interface {
	// MayReport decides on a session before it is opened, and again every
	// Config.ReviewInterval. The hello is complete and well-formed; it is not changed.
	MayReport(ctx context.Context, who Identity, hello *index.Hello) (Permission, error)
	// MayLookup decides on questions about a tenant; the empty tenant stands for
	// all of them. What it allows a caller stands for decisionTTL.
	MayLookup(ctx context.Context, who Identity, tenant string) error
}

// AllowAll is the Authorizer of a server with a single trusted token.
type AllowAll struct{}

// MayReport allows every session, for the backend that it names.
func (AllowAll) MayReport(_ context.Context, _ Identity, hello *index.Hello) (Permission, error) {
	return Permission{Backend: hello.Backend}, nil
}

// MayLookup allows every question.
func (AllowAll) MayLookup(context.Context, Identity, string) error { return nil }

// errWrongToken does not say how a token differs from the right one.
var errWrongToken = errors.New("the bearer token is not valid")

type singleToken struct {
	digest [sha256.Size]byte
	who    Identity
}

// SingleToken returns the Authenticator that takes one token, which belongs to
// who. The empty token is never taken.
func SingleToken(token string, who Identity) Authenticator {
	return &singleToken{digest: sha256.Sum256([]byte(token)), who: who}
}

// Authenticate compares digests, so that neither the token's content nor its
// length shows in the time that it takes.
func (s *singleToken) Authenticate(_ context.Context, token string) (Identity, error) {
	digest := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(digest[:], s.digest[:]) != 1 || token == "" {
		return Identity{}, errWrongToken
	}
	return s.who, nil
}

// refusal makes a gRPC status of an authenticator's or authorizer's error.
func refusal(err error, code codes.Code) error {
	if st, ok := status.FromError(err); ok && st.Code() != codes.OK {
		return st.Err()
	}
	return status.Error(code, err.Error())
}

type callerKey struct{}

// WithIdentity returns the context of a call by who. It is for callers that have
// authenticated who by themselves and call the service without a connection.
func WithIdentity(ctx context.Context, who Identity) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{who: who})
}

// callerFrom returns who was authenticated for a call. The service refuses
// calls that did not pass the interceptors of this package.
func callerFrom(ctx context.Context) (*caller, error) {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, status.Error(codes.Unauthenticated, "the call was not authenticated")
	}
	return c, nil
}

// identityFrom returns the identity of who was authenticated for a call.
func identityFrom(ctx context.Context) (Identity, error) {
	c, err := callerFrom(ctx)
	if err != nil {
		return Identity{}, err
	}
	return c.who, nil
}
