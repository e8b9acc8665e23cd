/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// kills is how often the server is killed while it is written to.
const kills = 50

// TestKillLosesNoAcknowledgedObject kills a server at another point of its work
// each time. Whatever a client was told to be created has to be there afterwards,
// and whatever it was told to be deleted has to be gone.
func TestKillLosesNoAcknowledgedObject(t *testing.T) {
	dir := t.TempDir()
	ledger := &ledger{acknowledged: map[string]bool{}}
	for round := range kills {
		p := startStandalone(t, dir)
		c := p.client(t)
		ledger.verify(t, c)
		written := make(chan struct{}, 4096)
		ctx, cancel := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for w := range 2 {
			writers.Go(func() { ledger.write(ctx, c, fmt.Sprintf("r%02d-w%d", round, w), written) })
		}
		for range 3 + round%11 {
			select {
			case <-written:
			case <-p.exited:
				t.Fatalf("round %d: server ended by itself: %v\n%s", round, p.err, p.stderr.String())
			}
		}
		p.kill()
		cancel()
		writers.Wait()
		if t.Failed() {
			return
		}
	}
	p := startStandalone(t, dir)
	ledger.verify(t, p.client(t))
	t.Logf("%d kills, %d objects acknowledged", kills, len(ledger.acknowledged))
	if err := p.stop(t); err != nil {
		t.Errorf("last stop: %v", err)
	}
}

// ledger remembers what the server has acknowledged: true for created, false for
// deleted. Names whose last request got no answer are not in it, as either
// outcome is right for them.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]bool
}

func (l *ledger) set(name string, exists bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[name] = exists
}

func (l *ledger) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.acknowledged, name)
}

// write creates objects, and deletes every fifth again, until the server is gone.
func (l *ledger) write(ctx context.Context, c versioned.Interface, prefix string, written chan<- struct{}) {
	backends := c.InferencecacheV1alpha1().CacheBackends("default")
	for i := 0; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("%s-%04d", prefix, i)
		backend := &v1alpha1.CacheBackend{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM},
		}
		if _, err := backends.Create(ctx, backend, metav1.CreateOptions{}); err != nil {
			return
		}
		l.set(name, true)
		if i%5 == 4 {
			l.forget(name)
			if err := backends.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return
			}
			l.set(name, false)
		}
		select {
		case written <- struct{}{}:
		case <-ctx.Done():
		}
	}
}

// verify compares what the server has with what it has acknowledged.
func (l *ledger) verify(t *testing.T, c versioned.Interface) {
	t.Helper()
	list, err := c.InferencecacheV1alpha1().CacheBackends("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	there := map[string]bool{}
	for i := range list.Items {
		there[list.Items[i].Name] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var wrong []error
	for name, exists := range l.acknowledged {
		if exists != there[name] {
			wrong = append(wrong, fmt.Errorf("%s: acknowledged %t, there %t", name, exists, there[name]))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		t.Errorf("acknowledged writes are lost:\n%v", err)
	}
}
