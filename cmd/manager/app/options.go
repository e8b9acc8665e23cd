/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
)

// leaderLock is the Lease that the replicas of the manager share.
const leaderLock = "inference-cache-controller-leader-lock"

// maxPort is the highest port.
const maxPort = 65535

// Options are the flags of the manager.
type Options struct {
	// Kubeconfig names the cluster; empty means the one that the Pod runs in.
	Kubeconfig string
	// Namespace is the manager's own.
	Namespace string
	// MetricsAddress and HealthAddress are where it listens; "0" switches the
	// metrics off.
	MetricsAddress, HealthAddress string
	// ProfileAddress is where profiles are read; empty means nowhere.
	ProfileAddress string
	// WebhookPort is where the cluster asks about Pods, from 1 to 65535; 0 switches the
	// webhook off.
	WebhookPort int
	// SubscriberImage is the image of the subscriber in engine Pods; empty adds none.
	SubscriberImage string
	// IndexServer is where subscribers report, as host:port; empty means the Service of
	// the API server in Namespace.
	IndexServer string
	// LeaderElect lets one of several managers work at a time. The Lease is in
	// LeaderElectionNamespace; empty means Namespace.
	LeaderElect             bool
	LeaderElectionNamespace string
	// Concurrency is how many CacheBackends are worked on at a time.
	Concurrency int
	// FunctionalProbe has managed stores tried with real requests.
	FunctionalProbe bool
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	return &Options{
		Namespace:       "inference-cache-system",
		MetricsAddress:  ":8443",
		HealthAddress:   ":8081",
		WebhookPort:     9443,
		LeaderElect:     true,
		Concurrency:     4,
		FunctionalProbe: true,
	}
}

// AddFlags defines the flags with the present values as defaults.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "The kubeconfig of the cluster. Empty means the cluster that the Pod runs in.")
	flags.StringVar(&o.Namespace, "namespace", o.Namespace, "The namespace that the manager runs in.")
	flags.StringVar(&o.MetricsAddress, "metrics-bind-address", o.MetricsAddress, "Where /metrics is served over TLS, to callers that may get that path. 0 switches it off.")
	flags.StringVar(&o.HealthAddress, "health-probe-bind-address", o.HealthAddress, "Where /healthz and /readyz are served, without TLS.")
	flags.StringVar(&o.ProfileAddress, "pprof-bind-address", o.ProfileAddress, "Where profiles are served, to everybody who reaches the address. Empty switches it off.")
	flags.IntVar(&o.WebhookPort, "webhook-port", o.WebhookPort, "The port on which the cluster asks about Pods that are created. 0 switches the webhook off.")
	flags.StringVar(&o.SubscriberImage, "kvevent-subscriber-image", o.SubscriberImage, "The image of the subscriber that engine Pods get. Empty adds none, and engines of mode EventsOnly stay unwired.")
	flags.StringVar(&o.IndexServer, "index-server", o.IndexServer, "Where subscribers report, as host:port. Empty means port 9090 of the Service inference-cache-index in --namespace.")
	flags.BoolVar(&o.LeaderElect, "leader-elect", o.LeaderElect, "Let one of several managers work at a time.")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", o.LeaderElectionNamespace, "The namespace of the Lease "+leaderLock+". Empty means --namespace.")
	flags.IntVar(&o.Concurrency, "concurrency", o.Concurrency, "How many CacheBackends are worked on at a time.")
	flags.BoolVar(&o.FunctionalProbe, "functional-probe", o.FunctionalProbe, "Try managed stores with real requests, at most every 30 seconds each. Switched off, the condition FunctionalProbeOK is removed.")
}

// Validate returns everything that is wrong, by flag.
func (o *Options) Validate() error {
	var wrong []error
	if o.Namespace == "" {
		wrong = append(wrong, errors.New("--namespace must be given"))
	}
	if o.Concurrency < 1 {
		wrong = append(wrong, fmt.Errorf("--concurrency is %d, but at least 1 must be worked on", o.Concurrency))
	}
	if o.WebhookPort < 0 || o.WebhookPort > maxPort {
		wrong = append(wrong, fmt.Errorf("--webhook-port is %d, but must be from 0 to %d", o.WebhookPort, maxPort))
	}
	if _, _, err := net.SplitHostPort(o.IndexServer); err != nil && o.IndexServer != "" {
		wrong = append(wrong, fmt.Errorf("--index-server: %w", err))
	}
	for _, listener := range []struct{ flag, address, off string }{
		{flag: "--metrics-bind-address", address: o.MetricsAddress, off: "0"},
		{flag: "--health-probe-bind-address", address: o.HealthAddress},
		{flag: "--pprof-bind-address", address: o.ProfileAddress},
	} {
		if listener.address == listener.off {
			continue
		}
		if _, _, err := net.SplitHostPort(listener.address); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", listener.flag, err))
		}
	}
	return errors.Join(wrong...)
}
