/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

func TestTokens(t *testing.T) {
	s := indexservertest.Start(t)
	tests := map[string]struct {
		metadata []string
		code     codes.Code
		text     string
	}{
		"right":                {[]string{"authorization", "Bearer " + s.Token}, codes.OK, ""},
		"scheme in lower case": {[]string{"authorization", "bearer " + s.Token}, codes.OK, ""},
		"none":                 {nil, codes.Unauthenticated, `send metadata "authorization: Bearer <token>"`},
		"empty":                {[]string{"authorization", "Bearer "}, codes.Unauthenticated, "send metadata"},
		"bare":                 {[]string{"authorization", s.Token}, codes.Unauthenticated, "send metadata"},
		"other scheme":         {[]string{"authorization", "Basic " + s.Token}, codes.Unauthenticated, "send metadata"},
		"wrong":                {[]string{"authorization", "Bearer " + s.Token + "x"}, codes.Unauthenticated, "not valid"},
		"too long":             {[]string{"authorization", "Bearer " + strings.Repeat("x", 17<<10)}, codes.Unauthenticated, "send metadata"},
		"two":                  {[]string{"authorization", "Bearer wrong", "authorization", "Bearer " + s.Token}, codes.Unauthenticated, "send metadata"},
	}
	client := pb.NewInferenceCacheClient(s.DialWith(t))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := metadata.AppendToOutgoingContext(t.Context(), test.metadata...)
			check := func(call string, err error) {
				t.Helper()
				if status.Code(err) != test.code || (err != nil && !strings.Contains(err.Error(), test.text)) {
					t.Errorf("%s: got %v, want %s and %q", call, err, test.code, test.text)
				}
			}
			_, err := client.LookupRoute(ctx, &pb.LookupRouteRequest{})
			check("LookupRoute", err)
			_, err = client.GetCacheState(ctx, &pb.GetCacheStateRequest{})
			check("GetCacheState", err)
			if test.code != codes.OK {
				stream, err := client.Report(ctx)
				if err == nil {
					_, err = stream.Recv()
				}
				check("Report", err)
			}
		})
	}
}

func TestHealthNeedsNoTokenAndReflectionDoes(t *testing.T) {
	s := indexservertest.Start(t)
	open := s.DialWith(t)
	if _, err := grpc_health_v1.NewHealthClient(open).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Errorf("health without a token: %v", err)
	}
	if _, err := services(t, open); status.Code(err) != codes.Unauthenticated {
		t.Errorf("reflection without a token: got %v, want Unauthenticated", err)
	}
	names, err := services(t, s.Dial(t))
	if err != nil || !strings.Contains(names, "inferencecache.v1alpha1.InferenceCache") {
		t.Errorf("reflection with a token: got %q and %v", names, err)
	}
}

// services lists the services of a server by reflection.
func services(t *testing.T, conn *grpc.ClientConn) (string, error) {
	t.Helper()
	stream, err := grpc_reflection_v1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		return "", err
	}
	request := &grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}
	_ = stream.Send(request)
	response, err := stream.Recv()
	if err != nil {
		return "", err
	}
	var names []string
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	return strings.Join(names, " "), nil
}

func TestPlainTextIsRefused(t *testing.T) {
	s := indexservertest.Start(t)
	conn, err := grpc.NewClient(s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, err = grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	s := indexservertest.Start(t)
	authority, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}}
	if conn, err := dialer.DialContext(t.Context(), "tcp", s.Address); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 was spoken")
	}
}

func TestServiceWithoutItsOptionsRefusesEveryCall(t *testing.T) {
	s := indexservertest.Start(t)
	if _, err := s.Server.LookupRoute(t.Context(), &pb.LookupRouteRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("got %v, want Unauthenticated", err)
	}
	if _, err := s.Server.GetCacheState(t.Context(), &pb.GetCacheStateRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("got %v, want Unauthenticated", err)
	}
}

func TestSingleTokenIsNeverEmpty(t *testing.T) {
	a := indexserver.SingleToken("", indexserver.Identity{})
	if _, err := a.Authenticate(context.Background(), ""); err == nil {
		t.Error("the empty token was taken")
	}
}
