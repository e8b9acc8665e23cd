/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package options

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	genericoptions "k8s.io/apiserver/pkg/server/options"

	"inferencecache.io/inference-cache/pkg/apiserver/standalone"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/tokenizer"
)

// Complete fills in the defaults that depend on other options.
func (o *Options) Complete() error {
	host := ""
	if o.Standalone {
		host = loopback
		if o.DataDir == "" {
			o.DataDir = defaultStandaloneDir
		}
	}
	if o.DataDir != "" {
		dir, err := filepath.Abs(o.DataDir)
		if err != nil {
			return fmt.Errorf("resolve --data-dir: %w", err)
		}
		o.DataDir = dir
	}
	if o.IndexWarmUp == 0 {
		o.IndexWarmUp = clusterWarmUp
		if o.Standalone {
			o.IndexWarmUp = index.DefaultWarmUp
		}
	}
	if o.GRPCBindAddress == "" {
		o.GRPCBindAddress = net.JoinHostPort(host, defaultGRPCPort)
	}
	serving := o.Recommended.SecureServing
	if serving.BindAddress == nil {
		serving.BindAddress = net.IPv4zero
		if o.Standalone {
			serving.BindAddress = net.ParseIP(loopback)
		}
	}
	// What the library would look up otherwise, and fail for on a machine
	// without a network.
	o.ServerRun.AdvertiseAddress = serving.BindAddress
	// Makes --feature-gates and --emulated-version take effect.
	if err := o.ServerRun.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("apply feature gates and versions: %w", err)
	}
	return nil
}

// Validate returns every problem of completed options at once.
func (o *Options) Validate() error {
	var errs []error
	if o.embeddedEtcd() && o.DataDir == "" {
		errs = append(errs, errors.New("--data-dir: required without --etcd-servers, for the embedded etcd"))
	}
	if _, _, err := net.SplitHostPort(o.GRPCBindAddress); err != nil {
		errs = append(errs, fmt.Errorf("--grpc-bind-address: must be host:port: %w", err))
	}
	if o.IndexMemory.Sign() < 0 {
		errs = append(errs, fmt.Errorf("--index-memory: must not be below 0, is %s", o.IndexMemory.String()))
	}
	if o.IndexWarmUp < 0 {
		errs = append(errs, fmt.Errorf("--index-warm-up: must not be below 0, is %s", o.IndexWarmUp))
	}
	if _, err := tokenizer.ParseEndpoints(o.Tokenizers); err != nil {
		errs = append(errs, fmt.Errorf("--tokenizer: %w", err))
	}
	if o.Standalone {
		errs = append(errs, o.validateStandalone()...)
	} else {
		errs = append(errs, o.validateCluster()...)
	}
	errs = append(errs, o.ServerRun.Validate()...)
	errs = append(errs, o.validateRecommended()...)
	return errors.Join(errs...)
}

func (o *Options) validateStandalone() []error {
	var errs []error
	if err := standalone.RequireLoopback("--bind-address", o.Recommended.SecureServing.BindAddress.String()); err != nil {
		errs = append(errs, err)
	}
	if host, _, err := net.SplitHostPort(o.GRPCBindAddress); err == nil {
		if err := standalone.RequireLoopback("--grpc-bind-address", host); err != nil {
			errs = append(errs, err)
		}
	}
	if given := o.clusterFlagsGiven(); len(given) > 0 {
		errs = append(errs, fmt.Errorf("%s: no effect in standalone mode, which has no cluster", strings.Join(given, ", ")))
	}
	if pair := o.Recommended.SecureServing.ServerCert.CertKey; pair != (genericoptions.CertKey{}) {
		errs = append(errs, errors.New("--tls-cert-file, --tls-private-key-file: standalone mode makes its own certificates"))
	}
	return errs
}

func (o *Options) validateCluster() []error {
	var errs []error
	serving := o.Recommended.SecureServing
	if serving.BindPort == 0 && serving.Listener == nil {
		errs = append(errs, errors.New("--secure-port: 0 takes a free port and is for standalone mode; in a cluster the port must be known"))
	}
	errs = append(errs, o.validateCertificateFiles()...)
	return append(errs, o.Cluster.validate(o.ownCertificates())...)
}

// validateRecommended validates what is used of the recommended options. The
// library asks for etcd servers, which embedded etcd provides later.
func (o *Options) validateRecommended() []error {
	recommended := o.recommended()
	if o.embeddedEtcd() {
		recommended.Etcd.StorageConfig.Transport.ServerList = []string{"embedded"}
	}
	return recommended.Validate()
}

// recommended returns a copy of the recommended options for the way to run: in
// standalone mode without everything that asks a cluster.
func (o *Options) recommended() genericoptions.RecommendedOptions {
	r := *o.Recommended
	etcd, serving, features := *r.Etcd, *r.SecureServing, *r.Features
	inner := *serving.SecureServingOptions
	serving.SecureServingOptions = &inner
	r.Etcd, r.SecureServing, r.Features = &etcd, &serving, &features
	if o.Standalone {
		r.Authentication, r.Authorization = nil, nil
		r.CoreAPI, r.Admission, r.EgressSelector = nil, nil, nil
		features.EnablePriorityAndFairness = false
	}
	return r
}
