/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

const serverProgram = "inference-cache-apiserver"

// pollInterval is how often the demo looks whether something has happened.
const pollInterval = 5 * time.Millisecond

// server is the standalone API server and the clients of it.
type server struct {
	process *process
	dataDir string
	api     *rest.Config
	objects dynamic.Interface
	grpc    *grpc.ClientConn
	lookups pb.InferenceCacheClient
	token   string
	// apiAddress and grpcAddress are host:port.
	apiAddress, grpcAddress string
}

// startServer starts the API server on free ports and waits until it serves.
func startServer(ctx context.Context, root, dir string) (*server, error) {
	s := &server{dataDir: filepath.Join(dir, "data")}
	var err error
	s.process, err = start(dir, "apiserver", filepath.Join(root, "bin", serverProgram),
		"--standalone", "--data-dir="+s.dataDir, "--secure-port=0", "--grpc-bind-address=127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := s.await(ctx); err != nil {
		return nil, errors.Join(err, s.process.stop())
	}
	if err := s.connect(); err != nil {
		return nil, errors.Join(err, s.process.stop())
	}
	return s, nil
}

// await reads the addresses from the banner, which is printed when both ports
// serve.
func (s *server) await(ctx context.Context) error {
	api := regexp.MustCompile(`(?m)^\s+API\s+https://(\S+)$`)
	grpcPort := regexp.MustCompile(`(?m)^\s+gRPC\s+(\S+)`)
	return poll(ctx, "the API server to serve", func() (bool, error) {
		select {
		case <-s.process.ended:
			return false, s.process.failure()
		default:
		}
		text, err := os.ReadFile(s.process.logPath)
		if err != nil {
			return false, err
		}
		a, g := api.FindSubmatch(text), grpcPort.FindSubmatch(text)
		if a == nil || g == nil {
			return false, nil
		}
		s.apiAddress, s.grpcAddress = string(a[1]), string(g[1])
		return true, nil
	})
}

// connect makes the clients, from nothing but the files of the data directory.
func (s *server) connect() error {
	token, err := os.ReadFile(s.tokenFile())
	if err != nil {
		return err
	}
	s.token = strings.TrimSpace(string(token))
	authority, err := os.ReadFile(s.caFile())
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return fmt.Errorf("%s holds no certificate", s.caFile())
	}
	if s.api, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig()); err != nil {
		return err
	}
	// The demo asks far more often than a client in a cluster would.
	s.api.QPS = -1
	if s.objects, err = dynamic.NewForConfig(s.api); err != nil {
		return err
	}
	transport := credentials.NewTLS(&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	if s.grpc, err = grpc.NewClient(s.grpcAddress, grpc.WithTransportCredentials(transport)); err != nil {
		return err
	}
	s.lookups = pb.NewInferenceCacheClient(s.grpc)
	return nil
}

func (s *server) kubeconfig() string { return filepath.Join(s.dataDir, "kubeconfig") }
func (s *server) tokenFile() string  { return filepath.Join(s.dataDir, "token") }
func (s *server) caFile() string     { return filepath.Join(s.dataDir, "ca.crt") }

// lookup asks LookupRoute.
func (s *server) lookup(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.token)
	response, err := s.lookups.LookupRoute(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("look up: %w", err)
	}
	return response, nil
}

func (s *server) stop() error {
	return errors.Join(s.grpc.Close(), s.process.stop())
}

// poll calls check until it is true, fails, or ctx ends.
func poll(ctx context.Context, what string, check func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		done, err := check()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case <-ticker.C:
		}
	}
}
