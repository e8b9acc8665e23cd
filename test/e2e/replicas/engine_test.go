//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package replicas

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/engine/progress"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

// engine is a simulated engine in a Pod of the tenant. It has a subscriber for each
// replica, because one that finds both by a name expects them at one port.
type engine struct {
	*sim.Engine
	pod string
	// metrics are where the subscribers show how far they are.
	metrics []string
}

// startEngine runs an engine and its subscribers until the test ends.
func startEngine(t *testing.T, client kubernetes.Interface, f files, number int) *engine {
	t.Helper()
	e := &engine{pod: fmt.Sprintf("engine-%d", number)}
	cfg := sim.Config{Seed: uint64(number + 1), Blocks: 1 << 16}
	for _, address := range []*string{&cfg.EventsAddress, &cfg.ReplayAddress} {
		*address = free(t)
	}
	var err error
	if e.Engine, err = sim.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	pod, err := client.CoreV1().Pods(tenant).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: e.pod},
		Spec: corev1.PodSpec{
			ServiceAccountName: "router", Containers: []corev1.Container{{Name: "engine", Image: "example.com/engine:1"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := environment.Installation.ServiceAccountToken(t.Context(), tenant, "router", &pod.ObjectMeta)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.token(e.pod), token)
	for n, r := range environment.Installation.Replicas() {
		e.subscribe(t, f, n, r)
	}
	return e
}

// starting keeps the subscribers from holding each other's sockets.
var starting programs.Starting

// subscribe runs the subscriber for a replica.
func (e *engine) subscribe(t *testing.T, f files, n int, r *aggregated.Replica) {
	t.Helper()
	metrics := free(t)
	log := filepath.Join(f.dir, fmt.Sprintf("%s-%d.log", e.pod, n))
	process, err := starting.Start(programs.Command{
		Path: filepath.Join(environment.Programs, programs.Subscriber), Log: log, Tied: true,
		Args: []string{
			"--engine-endpoint=" + e.EventsEndpoint(), "--engine-replay-endpoint=" + e.ReplayEndpoint(), "--engine-metrics-url=",
			"--hash-scheme=" + sim.VLLM, "--server=" + r.GRPCAddress(), "--tls-server-name=" + aggregated.GRPCName,
			"--token-file=" + f.token(e.pod), "--ca-file=" + f.authority(),
			"--replica-id=" + e.pod, "--tenant-id=" + tenant, "--model-id=" + model,
			"--window=5ms", "--metrics-bind-address=" + metrics,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s:\n%s", log, programs.Tail(log))
		}
		if err := process.Kill(); err != nil {
			t.Error(err)
		}
	})
	e.metrics = append(e.metrics, metrics)
}

// awaitReported waits until replicas know everything that the engine has announced.
func (e *engine) awaitReported(ctx context.Context, replicas ...int) error {
	ctx, cancel := context.WithTimeout(ctx, programs.Patience)
	defer cancel()
	for _, n := range replicas {
		if err := progress.Await(ctx, e.metrics[n], progress.Point{Sequence: int64(e.Messages()) - 1}); err != nil {
			return fmt.Errorf("wait for replica %d to know %s: %w", n, e.pod, err)
		}
	}
	return nil
}

func free(t *testing.T) string {
	t.Helper()
	address, err := programs.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
