/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// hold is a value that is reserved for an object which is being written.
type hold struct {
	value    string
	holder   record
	revision int64
	lease    clientv3.LeaseID
	// until is when the write has to have ended.
	until time.Time
}

// take reserves value for the object of r, or returns why it cannot.
func (l *ledger) take(ctx context.Context, value string, r record) (*hold, error) {
	for {
		conditions, err := l.available(ctx, value, r.object())
		if err != nil {
			return nil, err
		}
		h, err := l.put(ctx, value, r, conditions)
		if h != nil || err != nil {
			return h, err
		}
		// Somebody was faster: whether that is who gets it has to be seen.
	}
}

// put writes holding and guard, or returns nil when the conditions do not hold.
func (l *ledger) put(ctx context.Context, value string, r record, conditions []clientv3.Cmp) (*hold, error) {
	content, err := r.encode()
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(l.write)
	lease, err := l.client.Grant(ctx, int64(guardTTL/time.Second))
	if err != nil {
		return nil, fmt.Errorf("reserve: %w", err)
	}
	response, err := l.client.Txn(ctx).If(conditions...).Then(
		clientv3.OpPut(l.keys.holding(value), content),
		clientv3.OpPut(l.keys.guard(value), "", clientv3.WithLease(lease.ID)),
	).Commit()
	if err == nil && response.Succeeded {
		return &hold{value: value, holder: r, revision: response.Header.Revision, lease: lease.ID, until: until}, nil
	}
	if err != nil {
		// The transaction may yet arrive. Without its lease it fails; if it has
		// arrived already, the guard goes now and leaves what drop deletes.
		err = fmt.Errorf("reserve: %w", err)
		return nil, errors.Join(err, l.cleanUp(ctx, func(ctx context.Context) error {
			if err := l.revoke(ctx, lease.ID); err != nil {
				return err
			}
			return l.drop(ctx, value)
		}))
	}
	return nil, l.cleanUp(ctx, func(ctx context.Context) error { return l.revoke(ctx, lease.ID) })
}

// keep ends the guard of an object that has been written.
func (l *ledger) keep(ctx context.Context, h *hold) error {
	return l.cleanUp(ctx, func(ctx context.Context) error { return l.revoke(ctx, h.lease) })
}

// release gives up a value whose object was certainly not written.
func (l *ledger) release(ctx context.Context, h *hold) error {
	return l.cleanUp(ctx, func(ctx context.Context) error {
		_, err := l.client.Txn(ctx).If(
			clientv3.Compare(clientv3.ModRevision(l.keys.holding(h.value)), "=", h.revision),
		).Then(
			clientv3.OpDelete(l.keys.holding(h.value)),
			clientv3.OpDelete(l.keys.guard(h.value)),
		).Commit()
		if err != nil {
			return fmt.Errorf("release reservation: %w", err)
		}
		return l.revoke(ctx, h.lease)
	})
}

func (l *ledger) revoke(ctx context.Context, lease clientv3.LeaseID) error {
	if _, err := l.client.Revoke(ctx, lease); err != nil {
		return fmt.Errorf("end reservation: %w", err)
	}
	return nil
}

// cleanUp runs f even when the client of the request has gone.
func (l *ledger) cleanUp(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	return f(ctx)
}
