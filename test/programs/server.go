/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package programs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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

// CallTimeout bounds one call to a server, which may be down.
const CallTimeout = 5 * time.Second

// Server is a standalone API server through all of its lives. It is safe for
// concurrent use.
type Server struct {
	config    ServerConfig
	api, grpc string
	starting  *Starting

	mu      sync.Mutex
	process *Process
	conn    *grpc.ClientConn
	token   string
	// deaths counts how often it was killed.
	deaths int
}

// ServerConfig says how a server is run.
type ServerConfig struct {
	// Program is the file to run, Dir a directory for its data and its log.
	Program, Dir string
	// Address is where it takes reports and answers lookups; a free one if it is
	// empty.
	Address string
	// Args are flags beyond those that every server gets.
	Args []string
}

// StartServer starts the program for the first time, with its data in a
// directory, and waits until it answers.
func StartServer(ctx context.Context, starting *Starting, program, dir string) (*Server, error) {
	return StartServerWith(ctx, starting, ServerConfig{Program: program, Dir: dir})
}

// StartServerWith is [StartServer] for a server that is not like all others.
func StartServerWith(ctx context.Context, starting *Starting, config ServerConfig) (*Server, error) {
	s := &Server{config: config, grpc: config.Address, starting: starting}
	var err error
	if s.api, err = FreeAddress(); err != nil {
		return nil, err
	}
	if s.grpc == "" {
		if s.grpc, err = FreeAddress(); err != nil {
			return nil, err
		}
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	err = Poll(ctx, func() error {
		if s.conn == nil {
			if err := s.connect(); err != nil {
				return err
			}
		}
		_, err := s.Lookup(ctx, &pb.LookupRouteRequest{ModelId: "none", TenantId: "none", TokenIds: []uint32{1}})
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, Tail(s.Log())), s.Stop())
	}
	return s, nil
}

func (s *Server) start() error {
	_, port, err := net.SplitHostPort(s.api)
	if err != nil {
		return err
	}
	s.process, err = s.starting.Start(Command{
		Path: s.config.Program, Log: s.Log(),
		Args: append([]string{"--standalone", "--data-dir=" + s.data(), "--secure-port=" + port, "--grpc-bind-address=" + s.grpc}, s.config.Args...),
	})
	return err
}

func (s *Server) data() string { return filepath.Join(s.config.Dir, "data") }

// Log is the file with what the server says.
func (s *Server) Log() string { return filepath.Join(s.config.Dir, "server.log") }

// Address is where it takes reports and answers lookups.
func (s *Server) Address() string { return s.grpc }

// CAFile and TokenFile are what a client needs.
func (s *Server) CAFile() string { return filepath.Join(s.data(), "ca.crt") }

// TokenFile holds the token of the server's only user.
func (s *Server) TokenFile() string { return filepath.Join(s.data(), "token") }

// Kubeconfig is for clients of its API.
func (s *Server) Kubeconfig() string { return filepath.Join(s.data(), "kubeconfig") }

// connect makes a client from what the server has written.
func (s *Server) connect() error {
	token, err := os.ReadFile(s.TokenFile())
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(s.CAFile())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return errors.New("the server has not written its certificate yet")
	}
	s.token = strings.TrimSpace(string(token))
	s.conn, err = grpc.NewClient(s.grpc, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		// The certificate names one loopback address, and this.
		ServerName: "localhost", RootCAs: roots, MinVersion: tls.VersionTLS12,
	})))
	return err
}

// Restart kills the server and starts it again. It does not wait for it.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaths++
	if err := s.process.Kill(); err != nil {
		return err
	}
	return s.start()
}

// Deaths is how often the server was killed and started again.
func (s *Server) Deaths() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaths
}

// Stop kills the server for good.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	return errors.Join(err, s.process.Kill())
}

// authorized returns the context of one call.
func (s *Server) authorized(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.token), cancel
}

// Lookup asks where a prompt should go.
func (s *Server) Lookup(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	ctx, cancel := s.authorized(ctx)
	defer cancel()
	return pb.NewInferenceCacheClient(s.conn).LookupRoute(ctx, request)
}

// State returns what the server knows of the engines of a model.
func (s *Server) State(ctx context.Context, tenant, model string) ([]*pb.ReplicaStats, error) {
	ctx, cancel := s.authorized(ctx)
	defer cancel()
	state, err := pb.NewInferenceCacheClient(s.conn).GetCacheState(ctx, &pb.GetCacheStateRequest{ModelId: model, TenantId: tenant})
	return state.GetReplicas(), err
}
