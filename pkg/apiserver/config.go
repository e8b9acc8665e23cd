/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachetenant"
	"inferencecache.io/inference-cache/pkg/routing"
)

// StorageVersion decides that objects of the group are stored in v1alpha1. The
// storage codec alone would keep whatever version a request came in.
func StorageVersion() runtime.GroupVersioner {
	return runtime.NewMultiGroupVersioner(v1alpha1.SchemeGroupVersion, schema.GroupKind{Group: inferencecache.GroupName})
}

// ExtraConfig is what this server needs beyond the generic one.
type ExtraConfig struct {
	// Codecs is the scheme that the generic configuration was made for.
	Codecs Codecs
	// Name identifies this replica in answers from its index (observedBy).
	Name string
	// GRPCListener is where engines report and routers ask. New takes it over.
	GRPCListener net.Listener
	// Clock is the time of the index and of everything computed from it.
	Clock clock.WithTicker
	// Metrics receives the collectors of the index, the gRPC server and the
	// embedded etcd, and is served on /metrics beside the library's registry.
	Metrics *prometheus.Registry
	// EmbeddedEtcd says that this process runs its own etcd, whose metrics are
	// served as well.
	EmbeddedEtcd bool
	// Standalone says that there is no cluster behind this server.
	Standalone bool
	// Namespaces knows the namespaces of the cluster; nil without a cluster.
	Namespaces cachetenant.Namespaces
	// Callers tells who calls the gRPC port; nil without a cluster.
	Callers *Callers
	// IndexMemory is the most memory, in bytes, that the index may take; 0 means no
	// limit.
	IndexMemory int64
	// IndexWarmUp is how long after its start the index calls itself incomplete; 0
	// stands for index.DefaultWarmUp.
	IndexWarmUp time.Duration
	// Tokenizer reads prompts that come as text; nil leaves them unread.
	Tokenizer routing.Tokenizer
	// Rights is the check of what this server may do in the cluster; nil without a
	// cluster.
	Rights *RightsCheck
	// SpaceEvents tells the cluster about the space of the embedded etcd; nil
	// without a cluster or without an etcd of our own.
	SpaceEvents *SpaceEvents
	// Tracing receives spans of gRPC calls; nil makes none. Those of requests go to
	// the provider of the generic configuration.
	Tracing trace.TracerProvider
	// Registration is how the cluster comes to this server; nil without a cluster.
	Registration *Registration
	// OnReady, when set, is called once, when /readyz turns good.
	OnReady func() error
	// CloseLast releases what has to outlive the server, embedded etcd above
	// all. It is called exactly once, by Run or by Close.
	CloseLast func() error
}

// Config is everything that New needs.
type Config struct {
	// Generic is the configuration of the API server library, with secure
	// serving, authentication, authorisation and storage applied.
	Generic *genericapiserver.RecommendedConfig
	// Extra is the rest.
	Extra ExtraConfig
}

// CompletedConfig is a Config whose defaults are filled in.
type CompletedConfig struct {
	generic genericapiserver.CompletedConfig
	extra   *ExtraConfig
}

// Complete fills in what can be derived and checks what cannot.
func (c *Config) Complete() (CompletedConfig, error) {
	var errs []error
	require := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("server configuration: %s is missing", what))
		}
	}
	require(c.Extra.Codecs.Scheme != nil, "scheme")
	require(c.Extra.Name != "", "replica name")
	require(c.Extra.GRPCListener != nil, "gRPC listener")
	require(c.Extra.Metrics != nil, "metrics registry")
	require(c.Extra.Standalone || c.Extra.Callers != nil, "source of callers in the cluster")
	require(c.Generic.SecureServing != nil, "secure serving")
	require(c.Generic.Authentication.Authenticator != nil, "authentication")
	require(c.Generic.Authorization.Authorizer != nil, "authorization")
	if len(errs) > 0 {
		return CompletedConfig{}, errors.Join(errs...)
	}
	if c.Extra.Clock == nil {
		c.Extra.Clock = clock.RealClock{}
	}
	if c.Extra.CloseLast == nil {
		c.Extra.CloseLast = func() error { return nil }
	}
	return CompletedConfig{generic: c.Generic.Complete(), extra: &c.Extra}, nil
}

// Close releases what the configuration holds when no server was made of it.
func (c *Config) Close() error {
	var errs []error
	if c.Extra.GRPCListener != nil {
		errs = append(errs, c.Extra.GRPCListener.Close())
	}
	if c.Generic.SecureServing != nil && c.Generic.SecureServing.Listener != nil {
		errs = append(errs, c.Generic.SecureServing.Listener.Close())
	}
	if c.Extra.CloseLast != nil {
		errs = append(errs, c.Extra.CloseLast())
	}
	return errors.Join(errs...)
}

// Start is Complete, New and Run in one, for callers that have nothing to do in
// between. Whatever the configuration holds is released when it returns.
func (c *Config) Start(ctx context.Context) error {
	completed, err := c.Complete()
	if err != nil {
		return errors.Join(err, c.Close())
	}
	server, err := completed.New(ctx)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	return server.Run(ctx)
}
