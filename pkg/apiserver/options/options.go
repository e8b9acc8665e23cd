/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

const (
	// etcdPrefix is the root of our keys. It is not kube-apiserver's, so that an
	// etcd may be shared with a cluster, even one that has a CRD of our group.
	etcdPrefix = "/inference-cache"

	// defaultSecurePort is kube-apiserver's, so that no user guesses.
	defaultSecurePort = 6443

	// defaultGRPCPort is where engines report and routers ask.
	defaultGRPCPort = "9090"

	// defaultStandaloneDir is relative to the working directory: the first
	// command of a new user should need no decision and no privilege.
	defaultStandaloneDir = "inference-cache-data"

	// defaultIndexMemory holds about a hundred million blocks, and leaves room for
	// the rest of the server in a container of four gigabytes.
	defaultIndexMemory = "2Gi"

	// clusterWarmUp is how long it may take until every engine reports to a server
	// that is new: DNS is cached for up to 30 seconds, subscribers look every 10, and
	// then they send what the engines hold.
	clusterWarmUp = 45 * time.Second

	loopback = "127.0.0.1"

	// watchGrace bounds how long open watches may take to end at shutdown. With
	// none given the library does not end them at all, and waits for a minute.
	watchGrace = 10 * time.Second
)

// Options holds what the flags set. The zero value is not usable; see New.
type Options struct {
	// Standalone runs without a cluster.
	Standalone bool
	// DataDir holds embedded etcd and, standalone, the credentials.
	DataDir string
	// EtcdQuotaBytes bounds the database of embedded etcd.
	EtcdQuotaBytes int64
	// UnsafeNoFsync makes embedded etcd faster and unsafe. It has no flag:
	// only tests may want it.
	UnsafeNoFsync bool
	// GRPCBindAddress is host:port of the gRPC server. Port 0 takes a free one.
	GRPCBindAddress string

	// IndexMemory is the most memory that the index may take; 0 means no limit.
	IndexMemory resource.QuantityValue
	// IndexWarmUp is how long the index calls itself incomplete after its start.
	IndexWarmUp time.Duration

	// Tokenizers say where prompts that come as text are tokenised, as model=url.
	Tokenizers []string

	// Cluster says where in a cluster the server is.
	Cluster ClusterOptions

	// ServerRun has timeouts, request limits and shutdown behaviour, which are
	// not part of the recommended options.
	ServerRun *genericoptions.ServerRunOptions
	// Recommended has everything that the API server library configures.
	Recommended *genericoptions.RecommendedOptions
	// Logs has the verbosity and the format of the log.
	Logs *logsapi.LoggingConfiguration

	// Out is where the standalone banner is written. nil writes none.
	Out io.Writer

	codecs apiserver.Codecs
	flags  *cliflag.NamedFlagSets
}

// New returns options with the defaults that do not depend on the way to run.
func New() *Options {
	codecs := apiserver.NewCodecs()
	o := &Options{
		EtcdQuotaBytes: embedded.DefaultQuotaBytes,
		IndexMemory:    resource.QuantityValue{Quantity: resource.MustParse(defaultIndexMemory)},
		Cluster:        newClusterOptions(),
		ServerRun:      genericoptions.NewServerRunOptions(),
		Recommended: genericoptions.NewRecommendedOptions(
			etcdPrefix, codecs.Factory.LegacyCodec(v1alpha1.SchemeGroupVersion)),
		Logs:   logsapi.NewLoggingConfiguration(),
		codecs: codecs,
	}
	apiserver.UseQuota(o.Recommended)
	o.Recommended.Etcd.StorageConfig.EncodeVersioner = apiserver.StorageVersion()
	o.Recommended.SecureServing.BindPort = defaultSecurePort
	o.Recommended.SecureServing.Required = false
	// Which address is meant when none is given depends on the way to run.
	o.Recommended.SecureServing.BindAddress = nil
	// Our certificates come from files, from package certs or from package
	// standalone; the library shall not write self-signed ones into the working directory.
	o.Recommended.SecureServing.ServerCert = genericoptions.GeneratableKeyCert{}
	o.ServerRun.ShutdownWatchTerminationGracePeriod = watchGrace
	return o
}

// embeddedEtcd reports whether storage is in the process.
func (o *Options) embeddedEtcd() bool {
	return len(o.Recommended.Etcd.StorageConfig.Transport.ServerList) == 0
}
