/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package rest

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// occupied knows the namespaces of a server that has no cluster. There a namespace
// comes into being with the first object in it.
type occupied struct {
	kinds []rest.Lister
}

// NamespaceExists implements cachetenant.Namespaces. An empty resource version
// asks for what is stored now.
func (o *occupied) NamespaceExists(ctx context.Context, name string) (bool, error) {
	ctx = genericapirequest.WithNamespace(ctx, name)
	for _, kind := range o.kinds {
		list, err := kind.List(ctx, &internalversion.ListOptions{Limit: 1})
		if err != nil {
			return false, fmt.Errorf("list objects of namespace %s: %w", name, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}
