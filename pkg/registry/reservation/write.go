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

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/klog/v2"
)

// write is one attempt to write an object.
type write struct {
	*Storage
	// request is the context of the client, ctx that of the write.
	request, ctx context.Context
	cancel       context.CancelCauseFunc
	// held is the reservation for what is being written now. late ends the write
	// when its guard may.
	held *hold
	late *time.Timer
}

// errLate is the cause of a write that has taken longer than writeTimeout.
var errLate = errors.New("the storage takes too long")

func (s *Storage) begin(ctx context.Context) *write {
	w := &write{Storage: s, request: ctx}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// take reserves what obj claims and starts the time in which it has to be written.
func (w *write) take(obj runtime.Object) error {
	value := w.ledger.rule.Value(obj)
	if value == "" {
		return nil
	}
	r, err := recordOf(w.ledger.resource, obj)
	if err != nil {
		return err
	}
	if w.held, err = w.ledger.take(w.request, value, r); err != nil {
		return err
	}
	w.late = time.AfterFunc(time.Until(w.held.until), func() { w.cancel(errLate) })
	return nil
}

// giveUp releases what is held for an object that was not written.
func (w *write) giveUp() {
	if w.held == nil {
		return
	}
	w.late.Stop()
	if err := w.ledger.release(w.request, w.held); err != nil {
		w.log(w.request, "Releasing a reservation failed, it is taken over when it is needed", err, w.held.value)
	}
	w.held = nil
}

// end settles the reservation after the write returned err, and returns the error
// for the client.
func (w *write) end(err error) error {
	defer w.cancel(nil)
	switch {
	case w.held == nil:
		return err
	case err != nil && notWritten(err):
		w.giveUp()
		return err
	}
	w.late.Stop()
	if err == nil {
		w.keep()
		return nil
	}
	// Whether it was written is not known. The guard stays, and ends by itself.
	if errors.Is(context.Cause(w.ctx), errLate) {
		return apierrors.NewTimeoutError(fmt.Sprintf("writing the %s: %v", w.ledger.rule.Kind.Kind, errLate), 1)
	}
	return err
}

// keep ends the guard of an object that has been written. When the guard has ended
// before, this process stood still for longer than it lasts, and somebody else may
// have reserved the value in the meantime.
func (w *write) keep() {
	err := w.ledger.keep(w.request, w.held)
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		err = w.ledger.cleanUp(w.request, func(ctx context.Context) error {
			return w.reserveClaim(ctx, w.held.value, w.held.holder)
		})
	}
	if err != nil {
		w.log(w.request, "Ending the guard of a reservation failed, it ends by itself", err, w.held.value)
	}
}

// drop gives a value free that an object claimed until now. A failure is no
// failure of the write, which has been done.
func (s *Storage) drop(ctx context.Context, value string) {
	if value == "" {
		return
	}
	if err := s.ledger.cleanUp(ctx, func(ctx context.Context) error { return s.ledger.drop(ctx, value) }); err != nil {
		s.log(ctx, "Dropping a reservation failed, it is taken over when it is needed", err, value)
	}
}

func (s *Storage) log(ctx context.Context, message string, err error, value string) {
	klog.FromContext(ctx).Error(err, message, "resource", s.ledger.resource.String(), "rule", s.ledger.rule.Name, "value", value)
}

// notWritten reports whether an error of the storage means that nothing was
// written, and nothing will be.
func notWritten(err error) bool {
	if storage.IsExist(err) || storage.IsConflict(err) || storage.IsNotFound(err) || storage.IsInvalidObj(err) || storage.IsInternalError(err) {
		return true
	}
	// etcd refuses a transaction that is too large, or for which it has no space;
	// what is larger than a message may be does not even leave the client.
	code := status.Code(err)
	if refused, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		code = refused.Code()
	}
	return code == codes.InvalidArgument || code == codes.ResourceExhausted
}
