//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scale

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestScale lets a fleet come to be, rest, miss its manager for a while, and grow
// while one manager takes over from another that was killed.
func TestScale(t *testing.T) {
	f, manager := newFleet(t), startManager(t, "first")
	t.Logf("%d CacheBackends, %d Pods", *backends, *backends*(engines+1))

	place, started := environment.calls.end(t), time.Now()
	if err := f.grow(t.Context(), "team", *backends); err != nil {
		t.Fatal(err)
	}
	made := time.Since(started)
	f.awaitConverged(t, *backends)
	report(t, "provision", time.Since(started), environment.calls.since(t, place))
	t.Logf("provision: everything was asked for after %v", made.Round(time.Millisecond))

	pass(t, *window/4) // what was observed last is written down
	place, started = environment.calls.end(t), time.Now()
	pass(t, *window)
	report(t, "steady", time.Since(started), environment.calls.since(t, place))
	now, most := manager.memory(t)
	t.Logf("memory: %s, at most %s", now, most)
	f.checkOwned(t)

	manager.stop(t)
	f.removeServices(t)
	place, started = environment.calls.end(t), time.Now()
	manager = startManager(t, "second")
	f.awaitServices(t)
	report(t, "restart without any Service", time.Since(started), environment.calls.since(t, place))
	f.awaitConverged(t, *backends)

	startManager(t, "third")
	f.failOver(t, manager)
}

// failOver kills a manager when it has provisioned some of several backends; another
// one waits.
func (f *fleet) failOver(t *testing.T, manager *managed) {
	t.Helper()
	more := max(perNamespace, *backends/4)
	place, started := environment.calls.end(t), time.Now()
	var growth errgroup.Group
	growth.Go(func() error { return f.grow(t.Context(), "late", more) })
	some := 0
	await(t, func() error {
		objects, _ := f.owned(t)
		if some = len(objects) - *backends; some <= 0 {
			return fmt.Errorf("none of %d backends is provisioned", more)
		}
		return nil
	})
	if err := manager.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := growth.Wait(); err != nil {
		t.Fatal(err)
	}
	f.awaitConverged(t, *backends+more)
	report(t, fmt.Sprintf("fail-over with %d of %d begun", some, more), time.Since(started), environment.calls.since(t, place))
	f.checkOwned(t)
}

// removeServices takes from every backend what clients reach its store by.
func (f *fleet) removeServices(t *testing.T) {
	t.Helper()
	services := f.services(t)
	for i := range services {
		if err := f.CoreV1().Services(services[i].Namespace).Delete(t.Context(), services[i].Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitServices waits until every backend has its Service.
func (f *fleet) awaitServices(t *testing.T) {
	t.Helper()
	await(t, func() error {
		if got := len(f.services(t)); got != *backends {
			return fmt.Errorf("%d of %d Services are there", got, *backends)
		}
		return nil
	})
}

// services are those of all backends.
func (f *fleet) services(t *testing.T) []metav1.PartialObjectMetadata {
	t.Helper()
	list, err := f.metadata.Resource(kinds["Service"]).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var services []metav1.PartialObjectMetadata
	for i := range list.Items {
		if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil && owner.Kind == "CacheBackend" {
			services = append(services, list.Items[i])
		}
	}
	return services
}

// report prints how long a phase took and what the manager called meanwhile.
func report(t *testing.T, phase string, took time.Duration, made calls) {
	t.Helper()
	t.Logf("%s: %v, %d calls of the manager, %.2f per second, %.1f per backend: %s", phase, took.Round(time.Millisecond),
		made.total(), float64(made.total())/took.Seconds(), float64(made.total())/float64(*backends), made)
}
