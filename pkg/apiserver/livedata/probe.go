/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachebackend"
)

// probeRetrySeconds is when to come back after too many probes: one takes milliseconds.
const probeRetrySeconds = 1

// PortProber probes the gRPC port of this server.
type PortProber interface {
	Probe(ctx context.Context) (indexserver.ProbeReport, error)
}

// Prober answers cachebackends/probe.
type Prober struct {
	Source

	// Port is what is probed.
	Port PortProber
}

var _ cachebackend.Prober = Prober{}

// Probe implements cachebackend.Prober.
func (p Prober) Probe(ctx context.Context, backend types.NamespacedName) (inferencecache.CacheBackendProbeStatus, error) {
	report, err := p.Port.Probe(ctx)
	if errors.Is(err, indexserver.ErrTooManyProbes) {
		return inferencecache.CacheBackendProbeStatus{}, apierrors.NewTooManyRequests(err.Error()+" on this server", probeRetrySeconds)
	}
	if err != nil {
		return inferencecache.CacheBackendProbeStatus{}, err
	}
	now := p.Clock.Now()
	status := inferencecache.CacheBackendProbeStatus{
		ObservedBy: p.Name,
		AsOf:       ptr.To(metav1.NewMicroTime(now)),
		Complete:   p.Index.Complete(now),
		Stages: []inferencecache.ProbeStage{
			probeStage(inferencecache.ProbeStageIngest, report.Ingest),
			probeStage(inferencecache.ProbeStageRouting, report.Routing),
		},
	}
	for _, s := range status.Stages {
		if s.Result == inferencecache.ProbeResultFailed {
			klog.FromContext(ctx).V(2).Info("Probe failed", "cacheBackend", backend, "stage", s.Name, "message", s.Message)
		}
	}
	return status, nil
}

func probeStage(name inferencecache.ProbeStageName, s indexserver.ProbeStage) inferencecache.ProbeStage {
	return inferencecache.ProbeStage{
		Name: name, Result: probeResult(s.Outcome), Message: s.Message, DurationMs: s.Took.Milliseconds(),
	}
}

func probeResult(o indexserver.ProbeOutcome) inferencecache.ProbeResult {
	switch o {
	case indexserver.ProbeOK:
		return inferencecache.ProbeResultOK
	case indexserver.ProbeFailed:
		return inferencecache.ProbeResultFailed
	case indexserver.ProbeSkipped:
		return inferencecache.ProbeResultSkipped
	case indexserver.ProbeUnknown:
	}
	return inferencecache.ProbeResultUnknown
}
