/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// podTTL is how long a Pod's labels and annotations are taken as they were read. All
	// ranks of a Pod come at once, and all Pods of a backend when that changes.
	podTTL = 30 * time.Second
	// maxPods bounds the Pods that are kept; more only cost the asking.
	maxPods = 16384
)

// podKey names one Pod, and none that had or will have its name.
type podKey struct {
	types.NamespacedName

	uid types.UID
}

// enginePod is what attribution looks at of a Pod. It is not changed.
type enginePod struct {
	podKey

	labels map[string]string
	// injectedBy and injectedByUID are the annotations of the webhook.
	injectedBy, injectedByUID string
}

// pods reads Pods by name when an engine reports, and only their metadata. It follows
// none: of a cluster's Pods few are engines.
type pods struct {
	client  metadata.Getter
	clock   clock.PassiveClock
	metrics *accessMetrics
	asking  singleflight.Group

	mu    sync.Mutex
	known map[podKey]knownPod
}

type knownPod struct {
	*enginePod

	until time.Time
}

// get returns a Pod. An error that is a gRPC status means that the cluster could not
// be asked; any other says why there is no such Pod.
func (p *pods) get(ctx context.Context, key podKey) (*enginePod, error) {
	if pod := p.find(key); pod != nil {
		p.metrics.pods.WithLabelValues(podCached).Inc()
		return pod, nil
	}
	asked := p.asking.DoChan(key.String()+"/"+string(key.uid), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clusterTimeout)
		defer cancel()
		return p.ask(ctx, key)
	})
	select {
	case answer := <-asked:
		if answer.Err != nil {
			return nil, answer.Err
		}
		return answer.Val.(*enginePod), nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

func (p *pods) find(key podKey) *enginePod {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pod, ok := p.known[key]; ok && p.clock.Now().Before(pod.until) {
		return pod.enginePod
	}
	return nil
}

// ask reads from the memory of the API server first, which may be behind: that there
// is no such Pod counts only when its storage says so.
func (p *pods) ask(ctx context.Context, key podKey) (*enginePod, error) {
	object, err := p.read(ctx, key, "0")
	if apierrors.IsNotFound(err) || err == nil && object.UID != key.uid {
		object, err = p.read(ctx, key, "")
	}
	switch {
	case apierrors.IsNotFound(err):
		p.metrics.pods.WithLabelValues(podAbsent).Inc()
		return nil, fmt.Errorf("there is no Pod %s", key.NamespacedName)
	case err != nil:
		p.metrics.pods.WithLabelValues(podFailed).Inc()
		klog.FromContext(ctx).V(2).Info("Reading a Pod failed", "pod", klog.KRef(key.Namespace, key.Name), "err", err.Error())
		return nil, status.Errorf(codes.Unavailable, "the cluster could not be asked for Pod %s", key.NamespacedName)
	case object.UID != key.uid:
		p.metrics.pods.WithLabelValues(podReplaced).Inc()
		return nil, fmt.Errorf("the token is bound to another Pod of the name %s, which is gone", key.NamespacedName)
	}
	p.metrics.pods.WithLabelValues(podFound).Inc()
	pod := &enginePod{
		podKey: key, labels: object.Labels,
		injectedBy: object.Annotations[injectedBy], injectedByUID: object.Annotations[injectedByUID],
	}
	p.keep(pod)
	return pod, nil
}

func (p *pods) read(ctx context.Context, key podKey, version string) (*metav1.PartialObjectMetadata, error) {
	start := time.Now()
	object, err := p.client.Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{ResourceVersion: version})
	p.metrics.podTime.Observe(time.Since(start).Seconds())
	return object, err
}

func (p *pods) keep(pod *enginePod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	if len(p.known) >= maxPods {
		for key, known := range p.known {
			if !now.Before(known.until) {
				delete(p.known, key)
			}
		}
	}
	if p.known == nil || len(p.known) >= maxPods {
		p.known = map[podKey]knownPod{}
	}
	p.known[pod.podKey] = knownPod{enginePod: pod, until: now.Add(podTTL)}
}
