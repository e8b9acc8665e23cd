/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
)

// ReservedTenant is the tenant of probes. Only a Prober of the server itself reports for
// it and is answered about it. It has to be the HiddenTenant of an index that is probed.
const ReservedTenant = "inferencecache.io/probe"

// Config is everything that New needs.
type Config struct {
	// Index is what is reported to and asked. Required.
	Index *index.Index
	// Name identifies this replica in its answers (observed_by). Required.
	Name string
	// Authenticator says whose a token is. Required.
	Authenticator Authenticator
	// Authorizer says what an identity may do. Required; see AllowAll.
	Authorizer Authorizer
	// Policies are what the tenants' namespaces want of lookups; nil means that
	// there are none.
	Policies routing.Policies
	// Tokenizer reads prompts that come as text; nil means that such lookups are
	// answered NO_HINT.
	Tokenizer routing.Tokenizer
	// TLS has the serving certificate. Required. Versions below 1.2 are never
	// spoken, whatever it says.
	TLS *tls.Config
	// Clock is the time of leases, events and latencies; nil is the real one.
	Clock clock.WithTicker
	// ReviewInterval is how often the token and the permission of a stream are decided
	// on anew; 0 means DefaultReviewInterval. Each stream is off by up to a quarter.
	ReviewInterval time.Duration
	// Limits bound what clients can cost; zero fields take their defaults.
	Limits Limits
	// Registerer receives the metrics; nil registers them nowhere.
	Registerer prometheus.Registerer
	// Tracing receives a span of every call, streams excepted; nil makes none.
	Tracing trace.TracerProvider
	// Logger is used outside of calls and handed to them. The zero value is silent.
	Logger logr.Logger
}

// Limits bound what clients can cost.
type Limits struct {
	// MessageBytes is the largest report that is taken, announced to clients in
	// HelloReply.max_message_bytes. 0 means DefaultMessageBytes.
	MessageBytes int
	// LookupBytes is the largest message of any kind that is read at all; it is
	// what a lookup may have. 0 means DefaultLookupBytes.
	LookupBytes int
	// ReportStreams is the largest number of sessions at a time. 0 means
	// DefaultReportStreams.
	ReportStreams int
	// StreamsPerConnection is the largest number of calls that one connection
	// has in flight; more wait. 0 means DefaultStreamsPerConnection.
	StreamsPerConnection uint32
	// Tokenizations is the largest number of prompts that are tokenised at a time.
	// 0 means DefaultTokenizations.
	Tokenizations int
	// TokenizeTimeout is how long a prompt may take to be tokenised when neither
	// the caller nor the policy says less. 0 means DefaultTokenizeTimeout.
	TokenizeTimeout time.Duration
	// Probes is the largest number of probes at a time. 0 means DefaultProbes.
	Probes int
	// ProbeTimeout is how long a probe may take. 0 means DefaultProbeTimeout.
	ProbeTimeout time.Duration
	// StopGrace is how long Serve waits for calls to end. 0 means DefaultStopGrace.
	StopGrace time.Duration
}

// Defaults of Limits.
const (
	DefaultMessageBytes = 4 << 20
	// DefaultLookupBytes fits the largest legal lookup: a chain of 2^20 hashes
	// of 10 bytes each, as protobuf writes them, with room for the rest.
	DefaultLookupBytes          = 12 << 20
	DefaultReportStreams        = 16384
	DefaultStreamsPerConnection = 128
	DefaultTokenizations        = 64
	DefaultTokenizeTimeout      = 5 * time.Second
	DefaultProbes               = 8
	DefaultProbeTimeout         = 5 * time.Second
	DefaultStopGrace            = 5 * time.Second
)

func (l Limits) withDefaults() Limits {
	if l.MessageBytes == 0 {
		l.MessageBytes = DefaultMessageBytes
	}
	if l.LookupBytes == 0 {
		l.LookupBytes = DefaultLookupBytes
	}
	if l.ReportStreams == 0 {
		l.ReportStreams = DefaultReportStreams
	}
	if l.StreamsPerConnection == 0 {
		l.StreamsPerConnection = DefaultStreamsPerConnection
	}
	if l.Tokenizations == 0 {
		l.Tokenizations = DefaultTokenizations
	}
	if l.TokenizeTimeout == 0 {
		l.TokenizeTimeout = DefaultTokenizeTimeout
	}
	if l.Probes == 0 {
		l.Probes = DefaultProbes
	}
	if l.ProbeTimeout == 0 {
		l.ProbeTimeout = DefaultProbeTimeout
	}
	if l.StopGrace == 0 {
		l.StopGrace = DefaultStopGrace
	}
	return l
}

// complete fills in defaults and names everything that is missing.
func (c Config) complete() (Config, error) {
	var errs []error
	require := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("index server configuration: %s is missing", what))
		}
	}
	require(c.Index != nil, "index")
	require(c.Name != "", "replica name")
	require(c.Authenticator != nil, "authenticator")
	require(c.Authorizer != nil, "authorizer")
	require(c.TLS != nil, "TLS configuration")
	if len(errs) > 0 {
		return Config{}, errors.Join(errs...)
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Logger.GetSink() == nil {
		c.Logger = logr.Discard()
	}
	if c.ReviewInterval == 0 {
		c.ReviewInterval = DefaultReviewInterval
	}
	c.Limits = c.Limits.withDefaults()
	c.TLS = c.TLS.Clone()
	c.TLS.MinVersion = max(c.TLS.MinVersion, tls.VersionTLS12)
	return c, nil
}
