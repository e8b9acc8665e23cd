/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	tlscredentials "google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

// Connection settings. A dead peer is noticed within 40 s, which is about the
// default lease; clients may ping three times as often.
const (
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
	keepaliveMinimum = 10 * time.Second
	handshakeTimeout = 20 * time.Second
	// maxHeaderBytes fits the largest token with room for the rest.
	maxHeaderBytes = 2 * maxTokenBytes
)

// Server serves InferenceCache from one index. It is safe for concurrent use.
type Server struct {
	pb.UnimplementedInferenceCacheServer

	config  Config
	metrics *metrics
	router  *routing.Router
	// credentials remembers who was authenticated a moment ago.
	credentials credentials
	// unknown are tokens that nobody has found good before, untold the tenants that a
	// caller has not asked about with success.
	unknown, untold strangers
	// questions are kept for their memory.
	questions sync.Pool
	// lookupStreams counts the open lookup streams.
	lookupStreams atomic.Int64
	// streams counts the sessions of report streams.
	streams atomic.Int64
	// probes is the server as the one who probes it.
	probes *probes
	// stopping is closed when streams have to end.
	stopping chan struct{}
	stopOnce sync.Once

	mu sync.Mutex
	// sessions are the open ones, by the namespace of their holder.
	sessions map[string]map[index.Holder]*session
}

// New returns a server that is not serving yet. The error names everything that
// is missing in the configuration, or a metric that is registered already.
func New(c Config) (*Server, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: c, stopping: make(chan struct{}), sessions: map[string]map[index.Holder]*session{},
		unknown: newStrangers(), untold: newStrangers(),
		questions: sync.Pool{New: func() any { return new(question) }},
	}
	s.metrics, err = newMetrics(c.Registerer, s)
	s.probes = newProbes(s)
	router := routing.Config{Index: c.Index, Policies: c.Policies}
	if c.Tokenizer != nil {
		router.Tokenizer = newBoundedTokenizer(c.Tokenizer, &c.Limits, s.metrics)
	}
	s.router = routing.New(router)
	return s, err
}

// Register adds the service to a gRPC server, which must have been made with
// Options: without them every call is refused as not authenticated.
func (s *Server) Register(r grpc.ServiceRegistrar) {
	pb.RegisterInferenceCacheServer(r, s)
}

// Options returns what a gRPC server of this service needs: TLS, authentication
// and the limits of messages, headers and connections.
func (s *Server) Options() []grpc.ServerOption {
	return append(s.tracing(),
		grpc.Creds(tlscredentials.NewTLS(s.config.TLS)),
		grpc.UnaryInterceptor(s.unaryInterceptor),
		grpc.StreamInterceptor(s.streamInterceptor),
		grpc.InTapHandle(s.tap),
		grpc.UnknownServiceHandler(unknownMethod),
		grpc.MaxRecvMsgSize(max(s.config.Limits.LookupBytes, s.config.Limits.MessageBytes)),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.MaxConcurrentStreams(s.config.Limits.StreamsPerConnection),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveMinimum, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	)
}
