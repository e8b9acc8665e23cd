/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// Repair drops every reservation that no object claims, and reserves every value
// that an object claims without. Of two objects that claim one value already, the
// older one gets it, and the log names the other. It may run at any time, in
// several servers at once, and does what it can: the error is that of all values
// for which it failed.
func (s *Storage) Repair(ctx context.Context) error {
	return errors.Join(s.dropLeftovers(ctx), s.reserveClaims(ctx))
}

func (s *Storage) dropLeftovers(ctx context.Context) error {
	response, err := s.ledger.client.Get(ctx, s.ledger.keys.holdings, clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return fmt.Errorf("list reservations: %w", err)
	}
	var errs []error
	for _, kv := range response.Kvs {
		value, err := s.ledger.keys.value(string(kv.Key))
		if err == nil {
			err = s.ledger.drop(ctx, value)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *Storage) reserveClaims(ctx context.Context) error {
	list := s.newList()
	if err := s.GetList(ctx, s.prefix, storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); err != nil {
		return fmt.Errorf("list %s: %w", s.ledger.resource, err)
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	// Objects come in the order of their keys, which decides between equal ages.
	slices.SortStableFunc(objects, func(a, b runtime.Object) int {
		return cmp.Compare(age(a), age(b))
	})
	var errs []error
	for _, obj := range objects {
		value := s.ledger.rule.Value(obj)
		if value == "" {
			continue
		}
		r, err := recordOf(s.ledger.resource, obj)
		if err == nil {
			err = s.reserveClaim(ctx, value, r)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// reserveClaim reserves the value of a stored object, unless it has it. That two
// have it already is for people to resolve.
func (s *Storage) reserveClaim(ctx context.Context, value string, r record) error {
	switch err := s.ledger.adopt(ctx, value, r); {
	case errors.Is(err, errSelf):
		return nil
	case apierrors.IsInvalid(err):
		s.log(ctx, "Two objects claim one value, change or delete one of them", err, value)
		return nil
	default:
		return err
	}
}

// adopt reserves value for an object that claims it already. As nothing is going
// to be written, it needs no guard.
func (l *ledger) adopt(ctx context.Context, value string, r record) error {
	content, err := r.encode()
	if err != nil {
		return err
	}
	for {
		conditions, err := l.available(ctx, value, r.object())
		if err != nil {
			return err
		}
		claimed, unchanged, err := l.claims(ctx, r.object(), value)
		if err != nil || !claimed {
			return err
		}
		response, err := l.client.Txn(ctx).If(append(conditions, unchanged)...).Then(clientv3.OpPut(l.keys.holding(value), content)).Commit()
		if err != nil {
			return fmt.Errorf("reserve: %w", err)
		}
		if response.Succeeded {
			return nil
		}
	}
}

// age is the time of creation, in seconds.
func age(obj runtime.Object) int64 {
	m, err := meta.Accessor(obj)
	if err != nil {
		return 0
	}
	created := m.GetCreationTimestamp()
	return created.Unix()
}
