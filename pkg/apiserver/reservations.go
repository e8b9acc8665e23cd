/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"

	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"
)

// repairer is a storage that keeps something beside its objects.
type repairer interface {
	Repair(ctx context.Context) error
}

// repairReservations returns a post-start hook that makes the reservations of
// unique values agree with the objects. A failure is logged and no more: what is
// left over blocks nobody, and the server must not depend on one bad object.
func repairReservations(storage map[string]rest.Storage) genericapiserver.PostStartHookFunc {
	return func(hook genericapiserver.PostStartHookContext) error {
		for resource, s := range storage {
			r, ok := s.(repairer)
			if !ok {
				continue
			}
			if err := r.Repair(hook); err != nil && hook.Err() == nil {
				klog.FromContext(hook).Error(err, "Repairing the reservations of unique values failed", "resource", resource)
			}
		}
		return nil
	}
}
