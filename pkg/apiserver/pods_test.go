/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	clocktesting "k8s.io/utils/clock/testing"
)

// oneNamespace is a cluster's Pods of one namespace: what the memory of the API server
// says, and what its storage does.
type oneNamespace struct {
	metadata.ResourceInterface

	memory, storage func() (*metav1.PartialObjectMetadata, error)
}

func (o oneNamespace) Get(_ context.Context, _ string, options metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	if options.ResourceVersion == "0" {
		return o.memory()
	}
	return o.storage()
}

// podsOf returns what reads Pods of one namespace.
func podsOf(t *testing.T, memory, storage func() (*metav1.PartialObjectMetadata, error)) (*pods, *clocktesting.FakeClock) {
	t.Helper()
	metrics, err := newAccessMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	return &pods{client: podsGetter{all: oneNamespace{memory: memory, storage: storage}}, clock: clock, metrics: metrics}, clock
}

// podsGetter is the Pods of all namespaces, which are one.
type podsGetter struct {
	metadata.Getter

	all oneNamespace
}

func (g podsGetter) Namespace(string) metadata.ResourceInterface { return g.all }

func podWith(uid string) func() (*metav1.PartialObjectMetadata, error) {
	return func() (*metav1.PartialObjectMetadata, error) {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "vllm-0", UID: types.UID(uid), Labels: map[string]string{"app": "llm"},
			Annotations: map[string]string{injectedBy: "team-a/a", injectedByUID: "uid", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
		}}, nil
	}
}

func noPod() (*metav1.PartialObjectMetadata, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("pods"), "vllm-0")
}

func noAnswer() (*metav1.PartialObjectMetadata, error) {
	return nil, apierrors.NewGenericServerResponse(http.StatusInternalServerError, "get", corev1.Resource("pods"), "vllm-0", "secret of the cluster", 0, true)
}

var vllm0 = podKey{types.NamespacedName{Namespace: "team-a", Name: "vllm-0"}, "live"}

func TestPodsAreReadByName(t *testing.T) {
	const (
		gone  = "there is no Pod team-a/vllm-0"
		other = "the token is bound to another Pod of the name team-a/vllm-0, which is gone"
		down  = "the cluster could not be asked for Pod team-a/vllm-0"
	)
	tests := map[string]struct {
		memory, storage func() (*metav1.PartialObjectMetadata, error)
		code            codes.Code
		want            string
		result          string
		reads           int
	}{
		"there":                     {memory: podWith("live"), result: podFound, reads: 1},
		"not in memory yet":         {memory: noPod, storage: podWith("live"), result: podFound, reads: 2},
		"another in memory still":   {memory: podWith("old"), storage: podWith("live"), result: podFound, reads: 2},
		"gone":                      {memory: noPod, storage: noPod, code: codes.Unknown, want: gone, result: podAbsent, reads: 2},
		"replaced":                  {memory: podWith("new"), storage: podWith("new"), code: codes.Unknown, want: other, result: podReplaced, reads: 2},
		"no answer":                 {memory: noAnswer, code: codes.Unavailable, want: down, result: podFailed, reads: 1},
		"no answer from storage":    {memory: noPod, storage: noAnswer, code: codes.Unavailable, want: down, result: podFailed, reads: 2},
		"gone while another is new": {memory: podWith("old"), storage: noPod, code: codes.Unknown, want: gone, result: podAbsent, reads: 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, _ := podsOf(t, test.memory, test.storage)
			pod, err := p.get(t.Context(), vllm0)
			if status.Code(err) != test.code || err != nil && status.Convert(err).Message() != test.want {
				t.Fatalf("got %v, want %s: %s", err, test.code, test.want)
			}
			if n := testutil.ToFloat64(p.metrics.pods.WithLabelValues(test.result)); n != 1 {
				t.Errorf("%v counted as %s, want 1", n, test.result)
			}
			if n := testutil.CollectAndCount(p.metrics.podTime); n != 1 {
				t.Errorf("%d histograms of reads", n)
			}
			if err != nil {
				return
			}
			want := &enginePod{podKey: vllm0, labels: map[string]string{"app": "llm"}, injectedBy: "team-a/a", injectedByUID: "uid"}
			if diff := cmp.Diff(want, pod, cmp.AllowUnexported(enginePod{}, podKey{})); diff != "" {
				t.Errorf("Pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsAreKeptForAWhile(t *testing.T) {
	reads := 0
	p, clock := podsOf(t, func() (*metav1.PartialObjectMetadata, error) { reads++; return podWith("live")() }, noPod)
	steps := []struct {
		name  string
		after time.Duration
		reads int
	}{{"first", 0, 1}, {"again", 0, 1}, {"within the time", podTTL - 1, 1}, {"after it", 1, 2}}
	for _, step := range steps {
		clock.Step(step.after)
		if _, err := p.get(t.Context(), vllm0); err != nil || reads != step.reads {
			t.Errorf("%s: %d reads, error %v, want %d", step.name, reads, err, step.reads)
		}
	}
	// Another Pod of the name is another Pod.
	old := vllm0
	old.uid = "old"
	if _, err := p.get(t.Context(), old); err == nil {
		t.Error("a Pod of another UID was found")
	}
	if n := testutil.ToFloat64(p.metrics.pods.WithLabelValues(podCached)); n != 2 {
		t.Errorf("%v were cached, want 2", n)
	}
}

func TestKeptPodsAreBounded(t *testing.T) {
	p, clock := podsOf(t, noPod, noPod)
	keep := func(n int) {
		for i := range n {
			p.keep(&enginePod{podKey: podKey{uid: types.UID(fmt.Sprint(i))}})
		}
	}
	keep(maxPods)
	if len(p.known) != maxPods {
		t.Fatalf("%d Pods are kept, want %d", len(p.known), maxPods)
	}
	clock.Step(podTTL / 2)
	p.keep(&enginePod{podKey: podKey{uid: "one more"}})
	if len(p.known) != 1 {
		t.Errorf("%d Pods are kept after one too many, want 1", len(p.known))
	}
	clock.Step(podTTL / 2)
	keep(maxPods - 1)
	clock.Step(podTTL/2 + 1)
	p.keep(&enginePod{podKey: podKey{uid: "later"}})
	if p.find(podKey{uid: "one more"}) != nil || p.find(podKey{uid: "later"}) == nil || len(p.known) != maxPods {
		t.Errorf("%d Pods are kept, want those whose time is not over", len(p.known))
	}
}

func TestAPodIsNotWaitedForTooLong(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	p, _ := podsOf(t, func() (*metav1.PartialObjectMetadata, error) { <-release; return noPod() }, noPod)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.get(ctx, vllm0); status.Code(err) != codes.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
}
