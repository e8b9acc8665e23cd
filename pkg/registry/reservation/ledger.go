/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"
)

const (
	// guardTTL is how long a value is blocked by a server that died while it
	// wrote the object. etcd gives up a request after about 7 s by itself, so a
	// request that its client gave up at writeTimeout has ended by then.
	guardTTL = 20 * time.Second
	// writeTimeout bounds the transaction that writes an object. A healthy etcd
	// takes milliseconds.
	writeTimeout = 10 * time.Second
	// waitTimeout bounds how long a request waits for another one to write.
	waitTimeout = 5 * time.Second
	// cleanupTimeout bounds what is done after a write, for which no client waits.
	cleanupTimeout = 5 * time.Second
)

// errSelf says that the object which is to be written claims the value already,
// so that the writer has seen an old state of it, or none.
var errSelf = errors.New("the object itself claims the value")

// ledger reads and writes the reservations of one rule. It is safe for concurrent
// use.
type ledger struct {
	rule     Rule
	resource schema.GroupResource
	client   *clientv3.Client
	keys     keys
	// root is the etcd prefix of the storage of objects.
	root string
	// objects is that storage. It is read past its cache.
	objects storage.Interface
	newFunc func() runtime.Object
	// keyOf is the key of an object in objects.
	keyOf func(types.NamespacedName) (string, error)
	// wait and write are waitTimeout and writeTimeout.
	wait, write time.Duration
}

// entry is what etcd holds about a value at one revision.
type entry struct {
	// holder is nil when nobody holds the value.
	holder *record
	// revision is when the holding was written last.
	revision int64
	guarded  bool
	// asOf is the revision of the read.
	asOf int64
}

func (l *ledger) read(ctx context.Context, value string) (entry, error) {
	response, err := l.client.Txn(ctx).Then(clientv3.OpGet(l.keys.holding(value)), clientv3.OpGet(l.keys.guard(value))).Commit()
	if err != nil {
		return entry{}, fmt.Errorf("read reservation: %w", err)
	}
	e := entry{asOf: response.Header.Revision, guarded: len(response.Responses[1].GetResponseRange().Kvs) > 0}
	if kvs := response.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		holder, err := decodeRecord(kvs[0].Value)
		if err != nil {
			return entry{}, fmt.Errorf("%s: %w", l.keys.holding(value), err)
		}
		e.holder, e.revision = &holder, kvs[0].ModRevision
	}
	return e, nil
}

// claims reports whether an object claims value, and a condition that is true for
// as long as the answer cannot have changed.
func (l *ledger) claims(ctx context.Context, object types.NamespacedName, value string) (bool, clientv3.Cmp, error) {
	key, err := l.keyOf(object)
	if err != nil {
		return false, clientv3.Cmp{}, err
	}
	etcdKey := path.Join("/", l.root) + key
	obj := l.newFunc()
	switch err := l.objects.Get(ctx, key, storage.GetOptions{}, obj); {
	case storage.IsNotFound(err):
		return false, clientv3.Compare(clientv3.CreateRevision(etcdKey), "=", 0), nil
	case err != nil:
		return false, clientv3.Cmp{}, fmt.Errorf("read the holder of a reservation: %w", err)
	}
	version, err := l.objects.Versioner().ObjectResourceVersion(obj)
	if err != nil {
		return false, clientv3.Cmp{}, err
	}
	return l.rule.Value(obj) == value, clientv3.Compare(clientv3.ModRevision(etcdKey), "=", int64(version)), nil
}

// settled waits until nobody is writing an object with value, and returns what is
// there then.
func (l *ledger) settled(ctx context.Context, value string) (entry, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.wait, errBusy)
	defer cancel()
	for {
		e, err := l.read(ctx, value)
		if err == nil && !e.guarded {
			return e, nil
		}
		if err == nil {
			err = l.awaitGuard(ctx, value, e.asOf)
		}
		if errors.Is(context.Cause(ctx), errBusy) {
			return entry{}, apierrors.NewTooManyRequests(fmt.Sprintf(
				"another request is writing a %s with the same %s; try again", l.rule.Kind.Kind, l.rule.Name), 1)
		}
		if err != nil {
			return entry{}, err
		}
	}
}

var errBusy = errors.New("reservation is busy")

// awaitGuard returns when the guard that was there at a revision has gone.
func (l *ledger) awaitGuard(ctx context.Context, value string, asOf int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for response := range l.client.Watch(ctx, l.keys.guard(value), clientv3.WithRev(asOf+1), clientv3.WithFilterPut()) {
		if err := response.Err(); err != nil {
			return fmt.Errorf("await reservation: %w", err)
		}
		if len(response.Events) > 0 {
			return nil
		}
	}
	return ctx.Err()
}

// available returns under which conditions value may be reserved for object. The
// error is errSelf, or what the client is told when another object has it.
func (l *ledger) available(ctx context.Context, value string, object types.NamespacedName) ([]clientv3.Cmp, error) {
	e, err := l.settled(ctx, value)
	if err != nil {
		return nil, err
	}
	conditions := []clientv3.Cmp{
		clientv3.Compare(clientv3.ModRevision(l.keys.holding(value)), "=", e.revision),
		clientv3.Compare(clientv3.CreateRevision(l.keys.guard(value)), "=", 0),
	}
	if e.holder == nil {
		return conditions, nil
	}
	claimed, unchanged, err := l.claims(ctx, e.holder.object(), value)
	switch {
	case err != nil:
		return nil, err
	case !claimed:
		return append(conditions, unchanged), nil
	case e.holder.object() == object:
		return nil, errSelf
	default:
		return nil, l.rule.refuse(value, object, e.holder.object())
	}
}

// drop deletes the holding of value when it is a leftover.
func (l *ledger) drop(ctx context.Context, value string) error {
	for {
		e, err := l.read(ctx, value)
		if err != nil || e.holder == nil || e.guarded {
			return err
		}
		claimed, unchanged, err := l.claims(ctx, e.holder.object(), value)
		if err != nil || claimed {
			return err
		}
		response, err := l.client.Txn(ctx).If(
			clientv3.Compare(clientv3.ModRevision(l.keys.holding(value)), "=", e.revision),
			clientv3.Compare(clientv3.CreateRevision(l.keys.guard(value)), "=", 0),
			unchanged,
		).Then(clientv3.OpDelete(l.keys.holding(value))).Commit()
		if err != nil {
			return fmt.Errorf("drop reservation: %w", err)
		}
		if response.Succeeded {
			return nil
		}
		// Somebody has written the object or reserved the value: look again.
	}
}
