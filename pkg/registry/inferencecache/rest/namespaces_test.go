/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package rest

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// kindIn is a kind with one object in each of its namespaces. Listing namespace
// "broken" fails.
type kindIn struct {
	rest.Lister
	namespaces []string
}

func (k kindIn) List(ctx context.Context, _ *internalversion.ListOptions) (runtime.Object, error) {
	list := &inferencecache.CacheTenantList{}
	for _, namespace := range k.namespaces {
		if namespace == "broken" {
			return nil, errors.New("no answer")
		}
		if namespace == genericapirequest.NamespaceValue(ctx) {
			list.Items = append(list.Items, inferencecache.CacheTenant{})
		}
	}
	return list, nil
}

func TestOccupied(t *testing.T) {
	tests := map[string]struct {
		kinds  []rest.Lister
		exists bool
		fails  bool
	}{
		"no kind":               {},
		"nothing there":         {kinds: []rest.Lister{kindIn{}, kindIn{namespaces: []string{"b"}}}},
		"object of any kind":    {kinds: []rest.Lister{kindIn{}, kindIn{namespaces: []string{"a"}}}, exists: true},
		"kind that cannot tell": {kinds: []rest.Lister{kindIn{namespaces: []string{"broken"}}}, fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			exists, err := (&occupied{kinds: test.kinds}).NamespaceExists(t.Context(), "a")
			if exists != test.exists || (err != nil) != test.fails {
				t.Errorf("exists is %t, error %v", exists, err)
			}
		})
	}
}
