//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/test/programs"
	"inferencecache.io/inference-cache/test/transcript"
)

// kubectl is a user's shell together with the server that it talks to.
type kubectl struct {
	transcript.Shell
	server *apiservertest.Server
}

// newKubectl starts a server and gives a user of it the program, the kubeconfig
// and an empty home.
func newKubectl(t *testing.T) *kubectl {
	t.Helper()
	program, err := programs.Kubectl(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := apiservertest.Start(t)
	return &kubectl{
		Shell:  transcript.Shell{Dir: "testdata", Kubectl: program, Kubeconfig: server.Kubeconfig, Home: t.TempDir()},
		server: server,
	}
}

// bearer sends a token with every call.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// startEngine reports the engine of the transcripts. It lives until the test ends.
func (k *kubectl) startEngine(t *testing.T) error {
	t.Helper()
	trust, err := credentials.NewClientTLSFromFile(k.server.CAFile, "")
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient(k.server.GRPCAddr, grpc.WithTransportCredentials(trust), grpc.WithPerRPCCredentials(bearer(k.server.Token)))
	if err != nil {
		return err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return transcript.ReportEngine(t.Context(), conn)
}
