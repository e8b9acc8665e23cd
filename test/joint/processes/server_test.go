/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// callTimeout bounds one call to the server, which may be down.
const callTimeout = 5 * time.Second

// server is the standalone API server through all of its lives: data directory
// and addresses stay.
type server struct {
	dir, api, grpc string

	mu      sync.Mutex
	process *process
	conn    *grpc.ClientConn
	token   string
	// deaths counts how often it was killed.
	deaths int
}

// startServer starts the server for the first time and waits until it answers.
func startServer(ctx context.Context, dir string) (*server, error) {
	s := &server{dir: dir}
	var err error
	if s.api, err = freeAddress(); err != nil {
		return nil, err
	}
	if s.grpc, err = freeAddress(); err != nil {
		return nil, err
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	err = poll(ctx, func() error {
		if s.conn == nil {
			if err := s.connect(); err != nil {
				return err
			}
		}
		_, err := s.lookup(ctx, &pb.LookupRouteRequest{ModelId: "none", TenantId: tenant, TokenIds: []uint32{1}})
		return err
	})
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) start() error {
	_, port, err := net.SplitHostPort(s.api)
	if err != nil {
		return err
	}
	s.process, err = start(filepath.Join(s.dir, "server.log"), binaries.server,
		"--standalone", "--data-dir="+s.data(), "--secure-port="+port, "--grpc-bind-address="+s.grpc)
	return err
}

func (s *server) data() string      { return filepath.Join(s.dir, "data") }
func (s *server) caFile() string    { return filepath.Join(s.data(), "ca.crt") }
func (s *server) tokenFile() string { return filepath.Join(s.data(), "token") }

// connect makes a client from what the server has written.
func (s *server) connect() error {
	token, err := os.ReadFile(s.tokenFile())
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(s.caFile())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return errors.New("the server has not written its certificate yet")
	}
	s.token = strings.TrimSpace(string(token))
	s.conn, err = grpc.NewClient(s.grpc, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})))
	return err
}

// restart kills the server and starts it again. It does not wait for it.
func (s *server) restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaths++
	if err := s.process.kill(); err != nil {
		return err
	}
	return s.start()
}

func (s *server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	return errors.Join(err, s.process.kill())
}

// authorized returns the context of one call.
func (s *server) authorized(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.token), cancel
}

func (s *server) lookup(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	ctx, cancel := s.authorized(ctx)
	defer cancel()
	return pb.NewInferenceCacheClient(s.conn).LookupRoute(ctx, request)
}

// live reports whether the server has the whole state of a model's only engine.
func (s *server) live(ctx context.Context, model string) bool {
	ctx, cancel := s.authorized(ctx)
	defer cancel()
	state, err := pb.NewInferenceCacheClient(s.conn).GetCacheState(ctx, &pb.GetCacheStateRequest{ModelId: model, TenantId: tenant})
	return err == nil && len(state.GetReplicas()) == 1 && state.GetReplicas()[0].GetState() == "Live"
}

// freeAddress returns a loopback address that was free a moment ago. Its port is
// below those that systems give to outgoing connections: somebody who comes back
// to an address after a death must not find it taken by a connection.
func freeAddress() (string, error) {
	const first, ports, tries = 12000, 20000, 64
	var last error
	for range tries {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
		last = err
	}
	return "", fmt.Errorf("no free port: %w", last)
}

// poll tries until it succeeds; the error is the last one.
func poll(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-ticker.C:
		}
	}
}
