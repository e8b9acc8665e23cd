/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	genericapiserver "k8s.io/apiserver/pkg/server"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/apiserver/livedata"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
	listers "inferencecache.io/inference-cache/pkg/generated/listers/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	registry "inferencecache.io/inference-cache/pkg/registry/inferencecache/rest"
)

// live is the index with the two faces it has: gRPC, and the virtual resources.
type live struct {
	grpc      *indexserver.Server
	data      registry.LiveData
	informers externalversions.SharedInformerFactory
	// synced report whether the objects there were at the start are in use.
	synced []cache.InformerSynced
	// rechecks has sessions looked at when objects change.
	rechecks *rechecks
}

// newLive builds the index and what reads and writes it. The objects of our own
// API that it looks at come from informers on the loopback connection, like for
// any other client.
func newLive(ctx context.Context, extra *ExtraConfig, generic *genericapiserver.Config) (*live, error) {
	client, err := versioned.NewForConfig(jsonConfig(generic.LoopbackClientConfig))
	if err != nil {
		return nil, fmt.Errorf("make loopback client: %w", err)
	}
	informers := externalversions.NewSharedInformerFactory(client, 0)
	kinds := informers.Inferencecache().V1alpha1()
	l := &live{informers: informers, rechecks: newRechecks()}

	idx := newIndex(extra)
	var namespaces coreinformers.NamespaceInformer
	if extra.Callers != nil {
		namespaces = extra.Callers.Namespaces
	}
	tenancy, err := newTenancy(kinds, namespaces, idx, l.rechecks.add)
	if err != nil {
		return nil, err
	}
	l.synced = append(l.synced, tenancy.hasSynced)
	config := indexserver.Config{
		Index:      idx,
		Name:       extra.Name,
		Policies:   tenancy,
		Tokenizer:  extra.Tokenizer,
		TLS:        servingTLS(generic.SecureServing),
		Clock:      extra.Clock,
		Registerer: extra.Metrics,
		Tracing:    extra.Tracing,
		Logger:     klog.FromContext(ctx).WithName("index"),
	}
	source := livedata.Source{Index: idx, Name: extra.Name, Clock: extra.Clock}
	routes := livedata.Lookuper{Source: source}
	if extra.Standalone {
		config.Authenticator, config.Authorizer = tokens{generic.Authentication.Authenticator}, indexserver.AllowAll{}
	} else {
		if err := l.decideAsCluster(&config, extra, generic, tenancy, client); err != nil {
			return nil, err
		}
		routes.NamespaceOf = tenancy.namespaceOf
	}
	if l.grpc, err = indexserver.New(config); err != nil {
		return nil, fmt.Errorf("make index server: %w", err)
	}
	port, err := l.grpc.Prober(extra.GRPCListener.Addr())
	if err != nil {
		return nil, err
	}
	routes.Router = l.grpc
	l.data = registry.LiveData{
		Observer:  livedata.Observer{Source: source},
		Snapshots: livedata.SnapshotLister{Source: source},
		Prober:    livedata.Prober{Source: source, Port: port},
		Index:     livedata.NewIndexReader(source, backendUID(kinds.CacheBackends().Lister())),
		Routes:    routes,
	}
	// A lister alone does not make its informer run.
	kinds.CacheBackends().Informer()
	return l, nil
}

// decideAsCluster has the cluster say who callers are and what they may, and the
// objects of our own API for what engines report.
func (l *live) decideAsCluster(config *indexserver.Config, extra *ExtraConfig, generic *genericapiserver.Config, t *tenancy, client versioned.Interface) error {
	metrics, err := newAccessMetrics(extra.Metrics)
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	backends := l.informers.Inferencecache().V1alpha1().CacheBackends()
	synced, err := followAttribution(backends.Informer(), func(namespace string) { l.rechecks.add(namespace) })
	if err != nil {
		return err
	}
	l.synced = append(l.synced, synced)
	config.Authenticator = newTokenReviews(extra.Callers.Tokens, metrics)
	config.Authorizer = &clusterAccess{
		authorizer:  generic.Authorization.Authorizer,
		namespaceOf: t.namespaceOf,
		pods:        &pods{client: extra.Callers.Pods, clock: extra.Clock, metrics: metrics},
		backends:    &attribution{known: backends.Lister(), client: client.InferencecacheV1alpha1(), clock: extra.Clock},
		synced:      l.hasSynced,
	}
	return nil
}

func (l *live) hasSynced() bool {
	return !slices.ContainsFunc(l.synced, func(synced cache.InformerSynced) bool { return !synced() })
}

// newIndex returns an index in which nobody sees what probes do.
func newIndex(extra *ExtraConfig) *index.Index {
	return index.New(index.Options{
		Secret: rand.Uint64(), Memory: extra.IndexMemory, WarmUp: extra.IndexWarmUp, HiddenTenant: indexserver.ReservedTenant,
	}, extra.Clock.Now())
}

// jsonConfig makes a client speak what we serve, whatever its default becomes.
func jsonConfig(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.ContentType = "application/json"
	c.AcceptContentTypes = "application/json"
	return c
}

// backendUID finds a backend's UID among the objects that are known by now.
func backendUID(backends listers.CacheBackendLister) func(types.NamespacedName) types.UID {
	return func(name types.NamespacedName) types.UID {
		backend, err := backends.CacheBackends(name.Namespace).Get(name.Name)
		if err != nil {
			return ""
		}
		return backend.UID
	}
}

// errTenancyNotSynced is seen by nobody: the wait for it ends with the server.
var errTenancyNotSynced = errors.New("policies and tenants were not read")

// recheckSessions looks at sessions when objects change, until ctx ends.
func (l *live) recheckSessions(ctx context.Context) {
	l.rechecks.run(ctx, l.grpc.Recheck)
}

// startInformers is a post-start hook. Readiness waits for it, so that the first
// answer after a start knows the objects as well as any later one. A server that
// is stopped meanwhile is no failure, which the library would end the process for.
func (l *live) startInformers(hook genericapiserver.PostStartHookContext) error {
	l.informers.StartWithContext(hook)
	err := l.informers.WaitForCacheSyncWithContext(hook).AsError()
	if err == nil && !cache.WaitForCacheSync(hook.Done(), l.hasSynced) {
		err = errTenancyNotSynced
	}
	if hook.Err() != nil {
		return nil
	}
	return err
}
