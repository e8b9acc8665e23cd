/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiservertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"inferencecache.io/inference-cache/pkg/apiserver/options"
)

// startTimeout bounds the wait for a ready server. It is generous, because it
// only decides when a test on an overloaded machine gives up.
const startTimeout = 2 * time.Minute

// Server is a running standalone server.
type Server struct {
	// Config reaches the API as the one user that may do everything. It has no
	// client-side rate limit.
	Config *rest.Config
	// Kubeconfig, CAFile and TokenFile are the files for other programs.
	Kubeconfig, CAFile, TokenFile string
	// Token is the content of TokenFile.
	Token string
	// GRPCAddr is host:port of the gRPC server, with the certificate of CAFile.
	GRPCAddr string
	// DataDir is the data directory.
	DataDir string

	stop func() error
}

// Option changes the options of a server before they are completed.
type Option func(*options.Options)

// WithDataDir makes the server use dir instead of a fresh directory.
func WithDataDir(dir string) Option {
	return func(o *options.Options) { o.DataDir = dir }
}

// Start runs a server until the test ends and returns when it is ready. It
// fails the test when the server does not start, or does not stop cleanly.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	server, err := Run(t.Context(), t.TempDir(), opts...)
	if err != nil {
		t.Fatalf("start server: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("stop server: %v", err)
		}
	})
	return server
}

// Run is Start for callers that expect an error. dir is the data directory
// unless an option names another. The server runs until Stop; ctx bounds only
// its start.
func Run(ctx context.Context, dir string, opts ...Option) (*Server, error) {
	ctx, cancelStart := context.WithTimeout(ctx, startTimeout)
	defer cancelStart()
	o := options.New()
	o.Standalone = true
	o.DataDir = dir
	o.UnsafeNoFsync = true
	o.GRPCBindAddress = "127.0.0.1:0"
	o.Recommended.SecureServing.BindPort = 0
	for _, opt := range opts {
		opt(o)
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	config, err := o.Config(ctx)
	if err != nil {
		return nil, err
	}
	grpcAddr := config.Extra.GRPCListener.Addr().String()
	ready := make(chan struct{})
	config.Extra.OnReady = func() error { close(ready); return nil }

	runCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- config.Start(runCtx) }()
	s := &Server{GRPCAddr: grpcAddr, DataDir: o.DataDir, stop: func() error { stop(); return <-done }}
	select {
	case <-ready:
	case err := <-done:
		stop()
		return nil, errors.Join(errors.New("server ended before it was ready"), err)
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.stop())
	}
	if err := s.readFiles(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// readFiles reads what the server wrote into its data directory.
func (s *Server) readFiles() error {
	s.Kubeconfig = filepath.Join(s.DataDir, "kubeconfig")
	s.CAFile = filepath.Join(s.DataDir, "ca.crt")
	s.TokenFile = filepath.Join(s.DataDir, "token")
	token, err := os.ReadFile(s.TokenFile)
	if err != nil {
		return err
	}
	s.Token = strings.TrimSpace(string(token))
	if s.Config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig); err != nil {
		return err
	}
	s.Config.QPS = -1
	return nil
}

// Stop ends the server and returns its error. Further calls do nothing, so a
// test may stop early what Start would stop at its end.
func (s *Server) Stop() error {
	if s.stop == nil {
		return nil
	}
	stop := s.stop
	s.stop = nil
	return stop()
}
