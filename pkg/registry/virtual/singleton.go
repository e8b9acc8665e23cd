/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
)

// DefaultBookmarkInterval is how often a watcher that asked for bookmarks gets
// one. It is the interval of kube-apiserver's watch cache.
const DefaultBookmarkInterval = time.Minute

// Source gives the one object of a virtual kind. It is called concurrently.
type Source interface {
	// Read returns the object as it is now, without a resourceVersion, and the
	// revision of that state. The object belongs to the caller. Revisions never
	// decrease within a process, and equal revisions mean equal objects. Every
	// watcher reads after every change, so a state that is costly to compute
	// should be kept until it changes.
	Read(ctx context.Context) (runtime.Object, uint64, error)
	// Subscribe returns a channel that receives after each change of the
	// revision, until ctx ends. It must hold one pending signal, so that a
	// change between two receives is never lost, and it may merge several
	// changes into one signal. A closed channel ends the watch.
	Subscribe(ctx context.Context) <-chan struct{}
}

// Singleton serves a cluster-scoped virtual kind that always has exactly one
// object. All fields are required; it is safe for concurrent use.
type Singleton struct {
	// Resource names the kind in errors.
	Resource schema.GroupResource
	// NewFunc returns an empty object, NewListFunc an empty list.
	NewFunc, NewListFunc func() runtime.Object
	// Source is where the object comes from.
	Source Source
	// Versions numbers the states of this process.
	Versions Versions
	// BookmarkInterval is the time between periodic bookmarks of one watch.
	BookmarkInterval time.Duration
	// Clock drives the periodic bookmarks.
	Clock clock.WithTicker
}

// Get returns the object when name is its name, else a 404.
func (s *Singleton) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, revision, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	if options != nil {
		if err := s.Versions.atLeast(options.ResourceVersion, revision); err != nil {
			return nil, err
		}
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if accessor.GetName() != name {
		return nil, apierrors.NewNotFound(s.Resource, name)
	}
	return obj, nil
}

// List returns a list of the object, or an empty one when the selectors do not
// match it. One object needs no second page, so no continue token is valid.
func (s *Singleton) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	if options == nil {
		options = &metainternalversion.ListOptions{}
	}
	if options.Continue != "" {
		return nil, APIError(ErrInvalidContinue)
	}
	obj, revision, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	check := s.Versions.atLeast
	if options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		check = s.Versions.exactly
	}
	if err := check(options.ResourceVersion, revision); err != nil {
		return nil, err
	}
	var items []runtime.Object
	if selects(options, obj) {
		items = append(items, obj)
	}
	list := s.NewListFunc()
	if err := meta.SetList(list, items); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	listMeta, err := meta.ListAccessor(list)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	listMeta.SetResourceVersion(s.Versions.Format(revision))
	return list, nil
}

// read returns the current object with its resourceVersion set.
func (s *Singleton) read(ctx context.Context) (runtime.Object, uint64, error) {
	obj, revision, err := s.Source.Read(ctx)
	if err != nil {
		return nil, 0, APIError(err)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, 0, apierrors.NewInternalError(err)
	}
	accessor.SetResourceVersion(s.Versions.Format(revision))
	return obj, revision, nil
}

// selects reports whether the selectors of a request match obj. Field selectors
// other than those of metadata never get here: the endpoint refuses them.
func selects(options *metainternalversion.ListOptions, obj runtime.Object) bool {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return false
	}
	if selector := options.LabelSelector; selector != nil && !selector.Matches(labels.Set(accessor.GetLabels())) {
		return false
	}
	selector := options.FieldSelector
	return selector == nil || selector.Matches(fields.Set{
		"metadata.name":      accessor.GetName(),
		"metadata.namespace": accessor.GetNamespace(),
	})
}
