/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

func TestHealthFollowsTheIndex(t *testing.T) {
	s := indexservertest.Start(t)
	client := grpc_health_v1.NewHealthClient(s.Dial(t))
	await := func(service string, want grpc_health_v1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		indexservertest.Await(t, service+" "+want.String(), func() bool {
			response, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
			return err == nil && response.GetStatus() == want
		})
	}
	service := pb.InferenceCache_ServiceDesc.ServiceName
	await("", grpc_health_v1.HealthCheckResponse_SERVING)
	await(service, grpc_health_v1.HealthCheckResponse_SERVING)

	seed(t, s, 11).Kill()
	s.AwaitState(t, index.Suspect)
	s.Clock.Step(time.Second)
	await(service, grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	await("", grpc_health_v1.HealthCheckResponse_SERVING)

	s.Clock.Step(index.DefaultLease)
	await(service, grpc_health_v1.HealthCheckResponse_SERVING)
}

func TestStopEndsStreams(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11)
	silent := s.Report(t)
	s.Stop()
	wantEnd(t, stream, codes.Unavailable, "the server is stopping")
	wantEnd(t, silent, codes.Unavailable, "")
}

func TestServeReportsABrokenListener(t *testing.T) {
	s := indexservertest.Start(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	config := indexserver.Config{
		Index: s.Index, Name: "broken", Authorizer: indexserver.AllowAll{}, TLS: &tls.Config{},
		Authenticator: indexserver.SingleToken("x", indexserver.Identity{}),
	}
	server, err := indexserver.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(context.Background(), listener); err == nil || !strings.Contains(err.Error(), "serve gRPC on") {
		t.Errorf("got %v, want an error that names the listener", err)
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := indexserver.New(indexserver.Config{})
	for _, what := range []string{"index", "replica name", "authenticator", "authorizer", "TLS configuration"} {
		if err == nil || !strings.Contains(err.Error(), what+" is missing") {
			t.Errorf("got %v, want it to name the %s", err, what)
		}
	}
}
