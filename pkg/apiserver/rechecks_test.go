/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned/fake"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
)

// TestRechecksAreOnePerNamespace adds a namespace many times while another one is
// looked at.
func TestRechecksAreOnePerNamespace(t *testing.T) {
	r := newRechecks()
	var mu sync.Mutex
	looked := map[string]int{}
	looking, proceed := make(chan string), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(t.Context(), func(namespace string) {
			mu.Lock()
			looked[namespace]++
			mu.Unlock()
			looking <- namespace
			<-proceed
		})
	}()
	r.add("team-a")
	<-looking
	for range 100 {
		r.add("team-b", "team-a")
	}
	for range 2 {
		proceed <- struct{}{}
		<-looking
	}
	proceed <- struct{}{}
	r.queue.ShutDown()
	<-done
	if looked["team-a"] != 2 || looked["team-b"] != 1 {
		t.Errorf("looked %v, want team-a twice and team-b once", looked)
	}
}

// TestWhatMovesEngines changes a CacheBackend in every way.
func TestWhatMovesEngines(t *testing.T) {
	client := fake.NewClientset()
	factory := externalversions.NewSharedInformerFactory(client, 0)
	changes := make(chan string, 10)
	if _, err := followAttribution(factory.Inferencecache().V1alpha1().CacheBackends().Informer(), func(namespace string) { changes <- namespace }); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	factory.WaitForCacheSync(t.Context().Done())
	kind := func(b *v1alpha1.CacheBackend) error {
		_, err := client.InferencecacheV1alpha1().CacheBackends(b.Namespace).Update(t.Context(), b, metav1.UpdateOptions{})
		return err
	}
	b := cacheBackend("a", "app", "llm")
	steps := []struct {
		name  string
		do    func() error
		moves bool
	}{
		{"made", func() error {
			_, err := client.InferencecacheV1alpha1().CacheBackends("team-a").Create(t.Context(), b, metav1.CreateOptions{})
			return err
		}, true},
		{"status", func() error { b = b.DeepCopy(); b.Status.EngineSelectorMessage = "x"; return kind(b) }, false},
		{"labels of its own", func() error { b = b.DeepCopy(); b.Labels = map[string]string{"x": "y"}; return kind(b) }, false},
		{"selector", func() error { b = b.DeepCopy(); b.Spec.EngineSelector.MatchLabels["app"] = "web"; return kind(b) }, true},
		{"no selector", func() error { b = b.DeepCopy(); b.Spec.EngineSelector = nil; return kind(b) }, true},
		{"made anew", func() error { b = b.DeepCopy(); b.UID = "another"; return kind(b) }, true},
		{"deleted", func() error {
			return client.InferencecacheV1alpha1().CacheBackends("team-a").Delete(t.Context(), "a", metav1.DeleteOptions{})
		}, true},
	}
	want := 0
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		// What moves nothing shows by the next that does: changes come in their order.
		if !step.moves {
			continue
		}
		want++
		select {
		case namespace := <-changes:
			if namespace != "team-a" {
				t.Errorf("%s: namespace %s", step.name, namespace)
			}
		case <-t.Context().Done():
			t.Fatalf("%s: nothing was told", step.name)
		}
	}
	if len(changes) != 0 {
		t.Errorf("%d changes were told beside the %d that move engines", len(changes), want)
	}
}
