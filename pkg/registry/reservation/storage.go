/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// Config says what the values are reserved for. All fields are required.
type Config struct {
	// Rule says what is unique.
	Rule Rule
	// Resource is the resource of the objects.
	Resource schema.GroupResource
	// Backend is where the objects are stored. Reservations lie beside them.
	Backend storagebackend.Config
	// Objects is the storage of the objects, Prefix their common key in it.
	Objects storage.Interface
	Prefix  string
	// KeyOf returns the key of an object in Objects.
	KeyOf func(types.NamespacedName) (string, error)
	// NewFunc returns an empty object, NewListFunc an empty list.
	NewFunc, NewListFunc func() runtime.Object
}

// Wrap returns the storage of objects that claim unique values, with a connection
// of its own to etcd. The caller closes it, and may do so more than once.
func Wrap(c Config) (*Storage, error) {
	client, err := dial(c.Backend.Transport)
	if err != nil {
		return nil, err
	}
	return &Storage{
		Interface: c.Objects,
		prefix:    c.Prefix,
		newList:   c.NewListFunc,
		ledger: &ledger{
			rule:     c.Rule,
			resource: c.Resource,
			client:   client,
			keys:     newKeys(c.Backend.Prefix, c.Resource, c.Rule.Name),
			root:     c.Backend.Prefix,
			objects:  c.Objects,
			newFunc:  c.NewFunc,
			keyOf:    c.KeyOf,
			wait:     waitTimeout,
			write:    writeTimeout,
		},
	}, nil
}

// Close ends the connection for reservations, not that of the objects.
func (s *Storage) Close() {
	// The only error is that of a connection that has been closed before.
	_ = s.ledger.client.Close()
}

// Storage is the storage of a kind whose objects claim unique values. It is safe
// for concurrent use. Reads pass through.
type Storage struct {
	storage.Interface
	ledger  *ledger
	prefix  string
	newList func() runtime.Object
}

var _ storage.Interface = (*Storage)(nil)

// Create implements storage.Interface.
func (s *Storage) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	w := s.begin(ctx)
	if err := w.take(obj); err != nil {
		if errors.Is(err, errSelf) {
			err = storage.NewKeyExistsError(key, 0)
		}
		return w.end(err)
	}
	return w.end(s.Interface.Create(w.ctx, key, obj, out, ttl)) //nolint:contextcheck // w.ctx is ctx with the write's deadline
}

// GuaranteedUpdate implements storage.Interface. tryUpdate may be called for
// several states of the object; each time the value of its result is reserved, and
// that of the time before is given up.
func (s *Storage) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	for {
		w := s.begin(ctx)
		before := ""
		//nolint:contextcheck // w.ctx is ctx with the write's deadline
		err := s.Interface.GuaranteedUpdate(w.ctx, key, destination, ignoreNotFound, preconditions,
			func(existing runtime.Object, meta storage.ResponseMeta) (runtime.Object, *uint64, error) {
				w.giveUp()
				// tryUpdate may change what it is given.
				before = s.ledger.rule.Value(existing)
				obj, ttl, err := tryUpdate(existing, meta)
				if err == nil && s.ledger.rule.Value(obj) != before {
					err = w.take(obj)
				}
				return obj, ttl, err
			}, cached)
		err = w.end(err)
		if errors.Is(err, errSelf) {
			// Another request has written the object since it was read.
			cached = nil
			continue
		}
		if err == nil && s.ledger.rule.Value(destination) != before {
			s.drop(ctx, before)
		}
		return err
	}
}

// Delete implements storage.Interface.
func (s *Storage) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, options storage.DeleteOptions) error {
	if err := s.Interface.Delete(ctx, key, out, preconditions, validate, cached, options); err != nil {
		return err
	}
	s.drop(ctx, s.ledger.rule.Value(out))
	return nil
}

// Check returns the error with which a write of obj would be refused.
func (s *Storage) Check(ctx context.Context, obj runtime.Object) error {
	value := s.ledger.rule.Value(obj)
	if value == "" {
		return nil
	}
	r, err := recordOf(s.ledger.resource, obj)
	if err != nil {
		return err
	}
	if _, err := s.ledger.available(ctx, value, r.object()); err != nil && !errors.Is(err, errSelf) {
		return err
	}
	return nil
}
