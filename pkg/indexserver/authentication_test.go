/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
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

// TestAnUnauthenticatedPeerGetsNothing calls everything there is, and what there is
// not, without a token and with a wrong one.
func TestAnUnauthenticatedPeerGetsNothing(t *testing.T) {
	s := indexservertest.Start(t)
	tests := map[string]struct {
		options []grpc.DialOption
		text    string
		// byName is the answer to what has no name of a method.
		byName string
	}{
		"no token":    {nil, missing, missing},
		"wrong token": {[]grpc.DialOption{s.WithToken("wrong")}, "the bearer token is not valid", missing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			conn := s.DialWith(t, test.options...)
			check := func(what string, err error, text string) {
				t.Helper()
				if status.Code(err) != codes.Unauthenticated || status.Convert(err).Message() != text {
					t.Errorf("%s: got %v, want Unauthenticated: %s", what, err, text)
				}
			}
			_, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			check("health", err, test.text)
			watch, err := grpc_health_v1.NewHealthClient(conn).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
			if err == nil {
				_, err = watch.Recv()
			}
			check("health watch", err, test.text)
			_, err = services(t, conn)
			check("reflection", err, test.text)
			_, err = pb.NewInferenceCacheClient(conn).LookupRoutes(t.Context(), &pb.LookupRoutesRequest{})
			check("lookups", err, test.text)
			for _, method := range []string{"/inferencecache.v1alpha1.InferenceCache/Absent", "/absent.Service/Method", "//"} {
				check(method, conn.Invoke(t.Context(), method, &pb.LookupRouteRequest{}, &pb.LookupRouteResponse{}), test.text)
			}
			for _, malformed := range []string{"/absent", "/a/b/c", "/"} {
				check(malformed, conn.Invoke(t.Context(), malformed, &pb.LookupRouteRequest{}, &pb.LookupRouteResponse{}), test.byName)
			}
		})
	}
}

const missing = `send metadata "authorization: Bearer <token>"`

// TestWhatIsNotGRPCGetsNothing speaks HTTP, and worse, to the port.
func TestWhatIsNotGRPCGetsNothing(t *testing.T) {
	s := indexservertest.Start(t)
	t.Run("HTTP/2", func(t *testing.T) {
		client := &http.Client{Transport: s.HTTP2(t)}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			request, err := http.NewRequestWithContext(t.Context(), method, "https://"+s.Address+"/inferencecache.v1alpha1.InferenceCache/LookupRoute", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Do(request)
			if err != nil {
				continue // the connection was closed
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if response.StatusCode < http.StatusBadRequest || strings.Contains(string(body), "inferencecache") {
				t.Errorf("%s: status %d, error %v: %s", method, response.StatusCode, err, body)
			}
		}
	})
	for name, bytes := range map[string]string{
		"HTTP/1":             "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"junk":               strings.Repeat("junk", 100),
		"a preface and junk": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("junk", 100),
	} {
		t.Run(name, func(t *testing.T) {
			conn := s.Connect(t)
			if _, err := io.WriteString(conn, bytes); err != nil {
				t.Fatal(err)
			}
			// What comes are the server's own settings and its goodbye.
			got, _ := io.ReadAll(conn)
			if strings.Contains(string(got), "inferencecache") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestWhoHasATokenSeesWhatThereIs(t *testing.T) {
	s := indexservertest.Start(t)
	conn := s.Dial(t)
	if _, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Errorf("health: %v", err)
	}
	names, err := services(t, conn)
	if err != nil || !strings.Contains(names, "inferencecache.v1alpha1.InferenceCache") {
		t.Errorf("reflection: got %q and %v", names, err)
	}
	err = conn.Invoke(t.Context(), "/absent.Service/Method", &pb.LookupRouteRequest{}, &pb.LookupRouteResponse{})
	if status.Code(err) != codes.Unimplemented || status.Convert(err).Message() != "method /absent.Service/Method is not known" {
		t.Errorf("unknown method: got %v", err)
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
