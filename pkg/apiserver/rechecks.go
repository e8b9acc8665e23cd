/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"

	"k8s.io/client-go/util/workqueue"
)

// rechecks has the sessions of namespaces looked at in which something has changed
// that decides about them. Changes that come while others are looked at are one.
type rechecks struct {
	queue workqueue.TypedInterface[string]
}

func newRechecks() *rechecks {
	return &rechecks{queue: workqueue.NewTyped[string]()}
}

// add has namespaces looked at soon.
func (r *rechecks) add(namespaces ...string) {
	for _, namespace := range namespaces {
		r.queue.Add(namespace)
	}
}

// run looks at one namespace after the other until ctx ends.
func (r *rechecks) run(ctx context.Context, recheck func(namespace string)) {
	defer context.AfterFunc(ctx, r.queue.ShutDown)()
	for {
		namespace, ended := r.queue.Get()
		if ended {
			return
		}
		recheck(namespace)
		r.queue.Done(namespace)
	}
}
