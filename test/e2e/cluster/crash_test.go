//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writers create backends until they are stopped.
type writers struct {
	work  sync.WaitGroup
	count atomic.Int64

	mu sync.Mutex
	// written are the names of what was acknowledged.
	written []string
}

// start has a number of them write to a namespace until ctx ends.
func (w *writers) start(ctx context.Context, clients clients, namespace string, number int) {
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	for range number {
		w.work.Go(func() {
			for ctx.Err() == nil {
				name := "b-" + strconv.FormatInt(w.count.Add(1), 10)
				if _, err := backends.Create(ctx, newBackend(name), createOptions); err != nil {
					continue // it was not acknowledged
				}
				w.mu.Lock()
				w.written = append(w.written, name)
				w.mu.Unlock()
			}
		})
	}
}

func (w *writers) acknowledged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.written)
}

// TestCrash kills the server while users write and namespaces are being deleted. What
// a user was told to be written is there afterwards, and the namespaces go without
// anybody's help.
func TestCrash(t *testing.T) {
	ctx, clients, i := t.Context(), newClients(t), environment.Installation
	const crashes, number, each = 3, 4, 25
	kept := clients.newNamespace(t)
	writing, stop := context.WithCancel(ctx)
	defer stop()
	w := &writers{}
	w.start(writing, clients, kept, number)
	server := i.Replicas()[0]
	for range crashes {
		doomed := clients.newNamespace(t)
		clients.fill(t, doomed)
		before := w.acknowledged()
		eventually(t, func() error {
			if n := w.acknowledged() - before; n < each {
				return fmt.Errorf("%d writes were acknowledged, want %d", n, each)
			}
			return nil
		})
		clients.deleteNamespace(t, doomed)
		if err := errors.Join(server.Kill(), server.Start(ctx), i.Await(ctx)); err != nil {
			t.Fatal(err)
		}
		clients.awaitNoNamespace(t, doomed)
	}
	stop()
	w.work.Wait()
	list, err := clients.ours.InferencecacheV1alpha1().CacheBackends(kept).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for n := range list.Items {
		there[list.Items[n].Name] = true
	}
	for _, name := range w.written {
		if !there[name] {
			t.Errorf("%s was acknowledged and is not there", name)
		}
	}
	t.Logf("%d writes were acknowledged through %d crashes", len(w.written), crashes)
}
