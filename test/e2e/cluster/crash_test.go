//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"inferencecache.io/inference-cache/test/programs"
)

// TestCrash kills the server while users write and namespaces are being deleted. What
// a user was told to be written is there afterwards, and the namespaces go without
// anybody's help.
func TestCrash(t *testing.T) {
	ctx, clients, i := t.Context(), newClients(t), environment.Installation
	kept := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(kept)
	const crashes, writers, each = 3, 4, 25

	writing, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	var count atomic.Int64
	var mu sync.Mutex
	var written []string
	for range writers {
		work.Go(func() {
			for writing.Err() == nil {
				name := "b-" + strconv.FormatInt(count.Add(1), 10)
				if _, err := backends.Create(writing, newBackend(name), createOptions); err != nil {
					continue // it was not acknowledged
				}
				mu.Lock()
				written = append(written, name)
				mu.Unlock()
			}
		})
	}
	acknowledged := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(written)
	}
	server := i.Replicas()[0]
	for range crashes {
		doomed := clients.newNamespace(t)
		clients.fill(t, doomed)
		before := acknowledged()
		eventually(t, func() error {
			if n := acknowledged() - before; n < each {
				return fmt.Errorf("%d writes were acknowledged, want %d", n, each)
			}
			return nil
		})
		clients.deleteNamespace(t, doomed)
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Start(context.WithoutCancel(ctx)); err != nil {
			t.Fatal(err)
		}
		if err := i.Await(ctx); err != nil {
			t.Fatal(err)
		}
		clients.awaitNoNamespace(t, doomed)
	}
	stop()
	work.Wait()
	for _, name := range written {
		err := programs.Poll(ctx, func() error {
			_, err := backends.Get(ctx, name, getOptions)
			if apierrors.IsNotFound(err) {
				t.Errorf("%s was acknowledged and is not there", name)
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d writes were acknowledged through %d crashes", len(written), crashes)
}
