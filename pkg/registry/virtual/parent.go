/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Parent reads the stored object that a virtual subresource hangs on.
type Parent struct {
	store rest.Getter
}

// NewParent returns a reader of the objects in store.
func NewParent(store rest.Getter) Parent {
	return Parent{store: store}
}

// Get returns the parent's metadata. Errors are API errors of the store, so an
// unknown name is a 404 that names the parent's resource. The namespace is that
// of the request context, as for every namespaced read.
func (p Parent) Get(ctx context.Context, name string) (metav1.Object, error) {
	obj, err := p.store.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, fmt.Errorf("reading the parent %q: %w", name, err)
	}
	return accessor, nil
}

// Meta returns the metadata of a virtual answer about parent: its name,
// namespace and UID. There is no resourceVersion, as soft state under a stored
// object has no version that a client could come back with.
func Meta(parent metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      parent.GetName(),
		Namespace: parent.GetNamespace(),
		UID:       parent.GetUID(),
	}
}
