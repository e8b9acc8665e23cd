/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cacheindex

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/stored"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// REST is the storage of cacheindices.
type REST struct {
	*virtual.Singleton
	rest.TableConvertor
}

var (
	_ rest.Storage              = (*REST)(nil)
	_ rest.Scoper               = (*REST)(nil)
	_ rest.Getter               = (*REST)(nil)
	_ rest.Lister               = (*REST)(nil)
	_ rest.Watcher              = (*REST)(nil)
	_ rest.SingularNameProvider = (*REST)(nil)
	_ rest.ShortNamesProvider   = (*REST)(nil)
	_ rest.CategoriesProvider   = (*REST)(nil)
)

// NewREST returns the storage of cacheindices, which numbers its states with
// versions.
func NewREST(reader Reader, versions virtual.Versions, clock clock.WithTicker) *REST {
	return &REST{
		TableConvertor: newTable(clock),
		Singleton: &virtual.Singleton{
			Resource:         inferencecache.Resource("cacheindices"),
			NewFunc:          func() runtime.Object { return &inferencecache.CacheIndex{} },
			NewListFunc:      func() runtime.Object { return &inferencecache.CacheIndexList{} },
			Source:           source{Reader: reader},
			Versions:         versions,
			BookmarkInterval: virtual.DefaultBookmarkInterval,
			Clock:            clock,
		},
	}
}

// New implements rest.Storage.
func (r *REST) New() runtime.Object {
	return r.NewFunc()
}

// NewList implements rest.Lister.
func (r *REST) NewList() runtime.Object {
	return r.NewListFunc()
}

// Destroy implements rest.Storage. There is nothing to release.
func (*REST) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (*REST) NamespaceScoped() bool {
	return false
}

// GetSingularName implements rest.SingularNameProvider.
func (*REST) GetSingularName() string {
	return "cacheindex"
}

// ShortNames implements rest.ShortNamesProvider.
func (*REST) ShortNames() []string {
	return []string{"ci"}
}

// Categories implements rest.CategoriesProvider.
func (*REST) Categories() []string {
	return []string{stored.Category}
}

// source shows a Reader to package virtual.
type source struct {
	Reader
}

// Read implements virtual.Source. The name is set here, so that no Reader can
// make an object that cannot be read by its name.
func (s source) Read(ctx context.Context) (runtime.Object, uint64, error) {
	index, revision, err := s.Get(ctx)
	if err != nil {
		return nil, 0, err
	}
	index.Name = inferencecache.CacheIndexName
	return index, revision, nil
}
