/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/apiserver/standalone"
	"inferencecache.io/inference-cache/pkg/storage/dirlock"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
	"inferencecache.io/inference-cache/pkg/tokenizer"
)

// Config opens what the server needs and returns its configuration. The options
// must be completed and valid. The caller runs the configuration or closes it. In
// a cluster it waits, until ctx ends, for what the cluster has to allow at the start.
func (o *Options) Config(ctx context.Context) (*apiserver.Config, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this replica: %w", err)
	}
	config := &apiserver.Config{
		Generic: genericapiserver.NewRecommendedConfig(o.codecs.Factory),
		Extra: apiserver.ExtraConfig{
			Codecs:       o.codecs,
			Name:         hostname,
			Clock:        clock.RealClock{},
			Metrics:      prometheus.NewRegistry(),
			EmbeddedEtcd: o.embeddedEtcd(),
			Standalone:   o.Standalone,
			IndexMemory:  o.IndexMemory.Value(),
			IndexWarmUp:  o.IndexWarmUp,
		},
	}
	if err := o.fill(ctx, config); err != nil {
		return nil, errors.Join(err, config.Close())
	}
	return config, nil
}

// applyTokenizers makes the client of the tokenizers, when there are any.
func (o *Options) applyTokenizers(config *apiserver.Config) error {
	if len(o.Tokenizers) == 0 {
		return nil
	}
	endpoints, err := tokenizer.ParseEndpoints(o.Tokenizers)
	if err != nil {
		return fmt.Errorf("--tokenizer: %w", err)
	}
	client, err := tokenizer.New(endpoints)
	if err != nil {
		return fmt.Errorf("--tokenizer: %w", err)
	}
	config.Extra.Tokenizer = client
	return nil
}

// fill applies the options to config. The data directory comes first: when two
// servers are started by mistake, that is what the second one has to be told,
// not that a port is taken.
func (o *Options) fill(ctx context.Context, config *apiserver.Config) error {
	generic := config.Generic
	generic.Serializer = o.codecs.Negotiated()
	if err := o.ServerRun.ApplyTo(&generic.Config); err != nil {
		return fmt.Errorf("apply server options: %w", err)
	}
	generic.EffectiveVersion = apiserver.WithProgramVersion(generic.EffectiveVersion)
	apiserver.ApplyOpenAPI(&generic.Config, o.codecs.Scheme, apiserver.Version())
	if err := o.applyTokenizers(config); err != nil {
		return err
	}

	recommended := o.recommended()
	if err := o.applyTracing(ctx, config, &recommended); err != nil {
		return err
	}
	if err := o.openStorage(ctx, config, recommended.Etcd); err != nil {
		return err
	}
	var credentials *standalone.Credentials
	if o.Standalone {
		var err error
		if credentials, err = o.useCredentials(recommended.SecureServing); err != nil {
			return err
		}
	}
	if !o.Standalone {
		if err := o.awaitRights(ctx, config); err != nil {
			return err
		}
		if err := o.register(ctx, config, recommended.SecureServing); err != nil {
			return err
		}
	}
	if err := recommended.ApplyTo(generic); err != nil {
		return fmt.Errorf("apply options: %w", err)
	}
	listener, err := net.Listen("tcp", o.GRPCBindAddress)
	if err != nil {
		return fmt.Errorf("--grpc-bind-address: %w", err)
	}
	config.Extra.GRPCListener = listener
	if o.Standalone {
		return o.applyStandalone(config, credentials)
	}
	if config.Extra.Namespaces, err = apiserver.ClusterNamespaces(generic.ClientConfig); err != nil {
		return err
	}
	return o.applyCallers(config)
}

// applyCallers makes what asks the cluster about callers of the gRPC port.
func (o *Options) applyCallers(config *apiserver.Config) error {
	authentication, err := clientConfig(o.kubeconfigOf(apiserver.AskerAuthentication))
	if err != nil {
		return err
	}
	config.Extra.Callers, err = apiserver.NewCallers(authentication, config.Generic.ClientConfig, config.Generic.SharedInformerFactory)
	return err
}

// awaitRights makes the check of the server's rights and waits for those that the
// library ends the process without.
func (o *Options) awaitRights(ctx context.Context, config *apiserver.Config) error {
	check, err := o.rightsCheck(config.Extra.Clock)
	if err != nil {
		return err
	}
	config.Extra.Rights = check
	if err := check.WaitToStart(ctx); err != nil {
		return fmt.Errorf("wait for rights in the cluster: %w", err)
	}
	return nil
}

// register makes what the cluster reaches the server through, and waits for the
// certificate when the server makes its own: there is nothing to listen with before.
func (o *Options) register(ctx context.Context, config *apiserver.Config, serving *genericoptions.SecureServingOptionsWithLoopback) error {
	client, err := clientConfig(o.Recommended.CoreAPI.CoreAPIKubeconfigPath)
	if err != nil {
		return err
	}
	registration := apiserver.RegistrationConfig{
		Client:      client,
		Namespace:   o.Cluster.Namespace,
		ServiceName: o.Cluster.ServiceName,
		Names:       o.Cluster.names(),
		Clock:       config.Extra.Clock,
		Registerer:  config.Extra.Metrics,
		Logger:      klog.FromContext(ctx).WithName("certificates"),
	}
	if o.ownCertificates() {
		lifetimes := o.Cluster.lifetimes()
		registration.Lifetimes = &lifetimes
	}
	if config.Extra.Registration, err = apiserver.NewRegistration(registration); err != nil {
		return fmt.Errorf("prepare to register with the cluster: %w", err)
	}
	if err := config.Extra.Registration.Prepare(ctx); err != nil {
		return fmt.Errorf("wait for a certificate: %w", err)
	}
	serving.ServerCert.GeneratedCert = config.Extra.Registration.ServingCertificate()
	return nil
}

// openStorage starts embedded etcd and points the storage at it, or takes just
// the data directory when only credentials are kept there.
func (o *Options) openStorage(ctx context.Context, config *apiserver.Config, etcd *genericoptions.EtcdOptions) error {
	if o.embeddedEtcd() {
		storage := embedded.Config{
			Dir:           o.DataDir,
			QuotaBytes:    o.EtcdQuotaBytes,
			UnsafeNoFsync: o.UnsafeNoFsync,
			Logger:        klog.FromContext(ctx).WithName("etcd"),
			Registerer:    config.Extra.Metrics,
		}
		if !o.Standalone {
			events, err := o.spaceEvents()
			if err != nil {
				return err
			}
			config.Extra.SpaceEvents, storage.OnSpace = events, events.Tell
		}
		server, err := embedded.Start(ctx, storage)
		if err != nil {
			return err
		}
		config.Extra.CloseLast = server.Close
		etcd.StorageConfig.Transport.ServerList = server.Endpoints()
		return nil
	}
	if !o.Standalone {
		return nil
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	lock, err := dirlock.Acquire(o.DataDir)
	if err != nil {
		return err
	}
	config.Extra.CloseLast = lock.Release
	return nil
}

// useCredentials loads the credentials of the data directory and makes the
// secure port use them. The library takes port 0 for "do not serve", so the
// listener is opened here.
func (o *Options) useCredentials(serving *genericoptions.SecureServingOptionsWithLoopback) (*standalone.Credentials, error) {
	credentials, err := standalone.LoadOrCreate(o.DataDir, time.Now())
	if err != nil {
		return nil, fmt.Errorf("standalone credentials: %w", err)
	}
	if serving.ServerCert.GeneratedCert, err = credentials.ServingCertificate(); err != nil {
		return nil, err
	}
	if serving.Listener == nil {
		address := net.JoinHostPort(serving.BindAddress.String(), strconv.Itoa(serving.BindPort))
		if serving.Listener, err = net.Listen("tcp", address); err != nil {
			return nil, fmt.Errorf("--secure-port: %w", err)
		}
	}
	return credentials, nil
}

// applyStandalone takes the place of the cluster: who may do what, and what the
// user is told.
func (o *Options) applyStandalone(config *apiserver.Config, credentials *standalone.Credentials) error {
	generic := &config.Generic.Config
	generic.Authentication.Authenticator = credentials.Authenticator()
	authorizer, err := standalone.Authorizer()
	if err != nil {
		return err
	}
	generic.Authorization.Authorizer = authorizer

	address := generic.SecureServing.Listener.Addr().String()
	if err := credentials.WriteKubeconfig("https://" + address); err != nil {
		return err
	}
	if o.Out == nil {
		return nil
	}
	banner := standalone.Banner{
		Version:      apiserver.Version(),
		DataDir:      o.DataDir,
		Kubeconfig:   credentials.KubeconfigFile(),
		TokenFile:    credentials.TokenFile(),
		CAFile:       credentials.CAFile(),
		APIAddress:   address,
		GRPCAddress:  config.Extra.GRPCListener.Addr().String(),
		ExternalEtcd: !o.embeddedEtcd(),
	}
	config.Extra.OnReady = func() error { return banner.Write(o.Out) }
	return nil
}
