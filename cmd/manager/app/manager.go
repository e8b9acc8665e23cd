/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/cachebackend"
	"inferencecache.io/inference-cache/pkg/controller/enginepod"
	"inferencecache.io/inference-cache/pkg/controller/tenancy"
	"inferencecache.io/inference-cache/pkg/controller/trustbundle"
)

// syncPatience is how long a readiness probe waits for what is not read yet.
const syncPatience = 500 * time.Millisecond

// newScheme knows the kinds of the cluster and ours.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
}

// newManager puts the manager together. Nothing runs before it is started.
func newManager(cluster *rest.Config, options *Options, logger logr.Logger) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	hook, err := newPodWebhook(cluster, options)
	if err != nil {
		return nil, err
	}
	served, err := newCertificate(cluster, options.Namespace, hook.published(), metrics.Registry, logger)
	if err != nil {
		return nil, err
	}
	lease := options.LeaderElectionNamespace
	if lease == "" {
		lease = options.Namespace
	}
	manager, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: scheme,
		Logger: logger,
		Cache:  cacheOptions(),
		Client: cachebackend.ClientOptions(),
		Metrics: metricsserver.Options{
			BindAddress: options.MetricsAddress, SecureServing: true, FilterProvider: protect,
			TLSOpts: []func(*tls.Config){served.serve},
		},
		WebhookServer:          hook.server(served),
		HealthProbeBindAddress: options.HealthAddress,
		PprofBindAddress:       options.ProfileAddress,

		LeaderElection: options.LeaderElect, LeaderElectionID: leaderLock, LeaderElectionNamespace: lease,
		// The program ends with the manager, so that nobody works without the Lease.
		LeaderElectionReleaseOnCancel: true,
		// A replica that waits for the Lease has read everything when it gets it.
		Controller: config.Controller{EnableWarmup: ptr.To(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the manager: %w", err)
	}
	err = errors.Join(
		manager.Add(served),
		manager.AddHealthzCheck("ping", healthz.Ping),
		manager.AddReadyzCheck("caches", cachesSynced(manager)),
		cachebackend.Add(manager, cachebackend.Options{
			Namespace: options.Namespace, Concurrency: options.Concurrency, FunctionalProbe: options.FunctionalProbe,
			Registerer: metrics.Registry,
		}),
		enginepod.Add(manager, options.Concurrency),
		tenancy.Add(manager, options.Concurrency),
		trustbundle.Add(manager, options.Namespace),
		hook.add(manager, served),
	)
	if err != nil {
		return nil, fmt.Errorf("add to the manager: %w", err)
	}
	return manager, nil
}

// cacheOptions say what the controllers read.
func cacheOptions() cache.Options {
	options := cachebackend.CacheOptions()
	options.ByObject[&corev1.ConfigMap{}] = trustbundle.CacheOptions()
	return options
}

// cachesSynced is ready when everything that is watched was read once.
func cachesSynced(manager ctrl.Manager) healthz.Checker {
	return func(r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), syncPatience)
		defer cancel()
		if !manager.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}
