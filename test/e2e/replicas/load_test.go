//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package replicas

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/client/routing"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/test/engine/sim"
)

// prompt is one of which it is known what an engine reuses.
type prompt struct {
	tokens []uint32
	pod    string
	reused int
}

// learn has each engine serve prompts of its own twice. The engines are large enough
// to keep them.
func learn(t *testing.T, engines []*engine) []prompt {
	t.Helper()
	const each, length = 8, 200
	var prompts []prompt
	for n, e := range engines {
		for i := range each {
			p := prompt{pod: e.pod, tokens: make([]uint32, length)}
			for j := range p.tokens {
				p.tokens[j] = uint32(1 + (n*each+i)*length + j)
			}
			for range 2 {
				response, err := e.Request(t.Context(), sim.Request{Tokens: p.tokens, MaxTokens: 1})
				if err != nil {
					t.Fatal(err)
				}
				p.reused = response.CachedTokens
			}
			if p.reused == 0 {
				t.Fatal("the engine reuses nothing")
			}
			prompts = append(prompts, p)
		}
	}
	return prompts
}

// load is what goes on while replicas restart.
type load struct {
	cancel context.CancelFunc
	work   sync.WaitGroup

	requests atomic.Int64
	mu       sync.Mutex
	lookups  int
	failures []error
	// written are the names of what was acknowledged, refused what was not.
	written []string
	refused []error
	// slowest is the longest time that a lookup took.
	slowest time.Duration
	// said is what routers said of the replicas.
	said []string
}

// pace is the time between two requests of one kind: enough of them to meet every
// moment of a restart, and not so many that a small machine has no time for it.
const pace = 5 * time.Millisecond

// patient bounds a lookup. It is long, so that a busy machine is no failure.
const patient = 2 * time.Second

// steadily does something again and again until the context ends.
func steadily(ctx context.Context, do func(i int)) {
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do(i)
		}
	}
}

// startLoad begins to ask, to serve and to write. It goes on until end.
func startLoad(t *testing.T, f files, engines []*engine, prompts []prompt) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	l := &load{cancel: cancel}
	t.Cleanup(l.end)
	const routers, writers = 2, 2
	for n := range routers {
		client, err := routing.New(routing.Options{
			Servers: addresses(), CAFile: f.authority(), TokenFile: f.router(), ServerName: serverName, Timeout: patient, Logger: l.logger(n),
		})
		if err != nil {
			t.Fatal(err)
		}
		l.work.Go(func() {
			defer client.Close()
			l.route(ctx, client, prompts, n)
		})
	}
	for _, e := range engines {
		l.work.Go(func() { l.serve(ctx, e) })
	}
	for n := range writers {
		client, err := versioned.NewForConfig(environment.Cluster.Config())
		if err != nil {
			t.Fatal(err)
		}
		l.work.Go(func() { l.write(ctx, client, n) })
	}
	return l
}

// logger keeps what a router says of the replicas, for when a lookup fails.
func (l *load) logger(router int) logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.said = append(l.said, fmt.Sprintf("router %d: %s", router, args))
	}, funcr.Options{Verbosity: 2, LogTimestamp: true, TimestampFormat: time.StampMilli})
}

// end stops the load and waits for it.
func (l *load) end() {
	l.cancel()
	l.work.Wait()
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, err)
}

// looked counts a lookup.
func (l *load) looked(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookups++
	l.slowest = max(l.slowest, took)
}

func (l *load) refuse(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = append(l.refused, err)
}

// route asks for prompts whose best engine is known.
func (l *load) route(ctx context.Context, client *routing.Client, prompts []prompt, n int) {
	steadily(ctx, func(i int) {
		p := prompts[(i+n)%len(prompts)]
		started := time.Now()
		answer := client.Lookup(ctx, routing.Query{Tenant: tenant, Model: model, TokenIDs: p.tokens})
		if ctx.Err() != nil {
			return
		}
		l.looked(time.Since(started))
		best, ok := answer.Best()
		switch {
		case answer.Err != nil:
			l.fail(fmt.Errorf("lookup by router %d at %s: %w", n, started.Format(time.StampMilli), answer.Err))
		case !ok || best.Pod != p.pod || best.MatchedTokens != p.reused:
			l.fail(fmt.Errorf("lookup by router %d at %s: %s, complete=%t, says %q with %d tokens, want %q with %d",
				n, started.Format(time.StampMilli), answer.Reason, answer.Complete, best.Pod, best.MatchedTokens, p.pod, p.reused))
		}
	})
}

// serve gives an engine new prompts, of which it tells the replicas.
func (l *load) serve(ctx context.Context, e *engine) {
	work := sim.NewWorkload(sim.WorkloadConfig{Seed: e.Config().Seed, MaxTokens: 300, Conversations: 4})
	steadily(ctx, func(int) {
		conversation, request := work.Next()
		response, err := e.Request(ctx, request)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.fail(fmt.Errorf("%s: %w", e.pod, err))
			return
		}
		l.requests.Add(1)
		work.Answer(conversation, response.OutputTokens)
	})
}

// write creates objects through the cluster. One that fails was not acknowledged,
// and the writer goes on with the next name.
func (l *load) write(ctx context.Context, client versioned.Interface, n int) {
	backends := client.InferencecacheV1alpha1().CacheBackends(tenant)
	steadily(ctx, func(i int) {
		backend := &v1alpha1.CacheBackend{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("w%d-%05d", n, i)},
			Spec:       v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM},
		}
		if _, err := backends.Create(ctx, backend, metav1.CreateOptions{}); err != nil {
			if ctx.Err() == nil {
				l.refuse(err)
			}
			return
		}
		l.mu.Lock()
		l.written = append(l.written, backend.Name)
		l.mu.Unlock()
	})
}

// verify holds that nothing failed and nothing was lost. The load has ended.
func (l *load) verify(t *testing.T) {
	t.Helper()
	client, err := versioned.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	list, err := client.InferencecacheV1alpha1().CacheBackends(tenant).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for i := range list.Items {
		there[list.Items[i].Name] = true
	}
	for _, name := range l.written {
		if !there[name] {
			t.Errorf("%s was acknowledged and is not there", name)
		}
	}
	const shown = 10
	if n := len(l.failures); n > 0 {
		t.Errorf("%d failures, the first of them: %v", n, errors.Join(l.failures[:min(n, shown)]...))
		t.Logf("the last of them: %v; routers said:\n%s", l.failures[n-1], strings.Join(l.said, "\n"))
	}
	t.Logf("%d lookups, the slowest took %v; %d requests to engines, %d writes acknowledged, %d refused",
		l.lookups, l.slowest.Round(time.Millisecond), l.requests.Load(), len(l.written), len(l.refused))
	for _, err := range l.refused {
		t.Logf("refused: %v", err)
	}
	if l.lookups == 0 || l.requests.Load() == 0 || len(l.written) == 0 {
		t.Error("the test tests little")
	}
}
