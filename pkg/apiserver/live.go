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

	"k8s.io/apimachinery/pkg/types"
	genericapiserver "k8s.io/apiserver/pkg/server"
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
	tenancy   *tenancy
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
	backends := kinds.CacheBackends().Lister()
	// A lister alone does not make its informer run.
	kinds.CacheBackends().Informer()

	idx := index.New(index.Options{Secret: rand.Uint64(), Memory: extra.IndexMemory}, extra.Clock.Now())
	tenancy, err := newTenancy(kinds, idx)
	if err != nil {
		return nil, err
	}
	var access indexserver.Authorizer = indexserver.AllowAll{}
	if !extra.Standalone {
		access = clusterAccess{authorizer: generic.Authorization.Authorizer, namespaceOf: tenancy.namespaceOf}
	}
	server, err := indexserver.New(indexserver.Config{
		Index:         idx,
		Name:          extra.Name,
		Authenticator: tokens{generic.Authentication.Authenticator},
		Authorizer:    access,
		Policies:      tenancy,
		Tokenizer:     extra.Tokenizer,
		TLS:           servingTLS(generic.SecureServing),
		Clock:         extra.Clock,
		Registerer:    extra.Metrics,
		Tracing:       extra.Tracing,
		Logger:        klog.FromContext(ctx).WithName("index"),
	})
	if err != nil {
		return nil, fmt.Errorf("make index server: %w", err)
	}
	source := livedata.Source{Index: idx, Name: extra.Name, Clock: extra.Clock}
	return &live{
		grpc:      server,
		informers: informers,
		tenancy:   tenancy,
		data: registry.LiveData{
			Observer:  livedata.Observer{Source: source},
			Snapshots: livedata.SnapshotLister{Source: source},
			Index:     livedata.NewIndexReader(source, backendUID(backends)),
			Routes:    livedata.Lookuper{Source: source, Router: server},
		},
	}, nil
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

// startInformers is a post-start hook. Readiness waits for it, so that the first
// answer after a start knows the objects as well as any later one. A server that
// is stopped meanwhile is no failure, which the library would end the process for.
func (l *live) startInformers(hook genericapiserver.PostStartHookContext) error {
	l.informers.StartWithContext(hook)
	err := l.informers.WaitForCacheSyncWithContext(hook).AsError()
	if err == nil && !cache.WaitForCacheSync(hook.Done(), l.tenancy.hasSynced) {
		err = errTenancyNotSynced
	}
	if hook.Err() != nil {
		return nil
	}
	return err
}
