/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// ProbeREST is the virtual subresource probe.
type ProbeREST struct {
	rest.TableConvertor
	parent virtual.Parent
	prober Prober
}

var (
	_ rest.NamedCreater                   = (*ProbeREST)(nil)
	_ rest.SubresourceObjectMetaPreserver = (*ProbeREST)(nil)
	_ rest.TableConvertor                 = (*ProbeREST)(nil)
)

// New implements rest.Storage.
func (*ProbeREST) New() runtime.Object {
	return &inferencecache.CacheBackendProbe{}
}

// Destroy implements rest.Storage. There is nothing to release.
func (*ProbeREST) Destroy() {}

// PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate implements
// rest.SubresourceObjectMetaPreserver, for the UID that a request may name.
func (*ProbeREST) PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate() bool {
	return true
}

// Create probes the server for the CacheBackend.
func (r *ProbeREST) Create(ctx context.Context, name string, obj runtime.Object, createValidation rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	asked, ok := obj.(*inferencecache.CacheBackendProbe)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a CacheBackendProbe, not %T", obj))
	}
	if asked.Name != "" && asked.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.name: %q is not the CacheBackend of the request, %q", asked.Name, name))
	}
	parent, err := r.parent.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	if asked.UID != "" && asked.UID != parent.GetUID() {
		return nil, apierrors.NewConflict(inferencecache.Resource("cachebackends"), name,
			fmt.Errorf("metadata.uid: the CacheBackend is %s, not %s", parent.GetUID(), asked.UID))
	}
	probe := &inferencecache.CacheBackendProbe{ObjectMeta: virtual.Meta(parent)}
	if createValidation != nil {
		if err := createValidation(ctx, probe.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	backend := types.NamespacedName{Namespace: parent.GetNamespace(), Name: parent.GetName()}
	if probe.Status, err = r.prober.Probe(ctx, backend); err != nil {
		return nil, virtual.APIError(err)
	}
	return probe, nil
}

// newProbeTable returns what is printed of a probe: a line per stage.
func newProbeTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.NewRows(clock,
		func(p *inferencecache.CacheBackendProbe) []*inferencecache.ProbeStage {
			rows := make([]*inferencecache.ProbeStage, 0, len(p.Status.Stages))
			for i := range p.Status.Stages {
				rows = append(rows, &p.Status.Stages[i])
			}
			return rows
		},
		func(p *inferencecache.CacheBackendProbe) runtime.Object {
			return &inferencecache.CacheBackendProbe{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, UID: p.UID}}
		},
		stageColumn("Stage", "string", "Step of the probe.",
			func(s *inferencecache.ProbeStage) any { return table.Text(s.Name) }),
		stageColumn("Result", "string", "How the step ended.",
			func(s *inferencecache.ProbeStage) any { return table.Text(s.Result) }),
		stageColumn("Milliseconds", "integer", "How long the step took.",
			func(s *inferencecache.ProbeStage) any { return s.DurationMs }),
		stageColumn("Message", "string", "Why the step did not succeed.",
			func(s *inferencecache.ProbeStage) any { return table.Text(s.Message) }),
	)
}

// stageColumn is a column over the stages of a probe.
func stageColumn(name, kind, description string, cell func(*inferencecache.ProbeStage) any) table.Column[*inferencecache.ProbeStage] {
	return table.Column[*inferencecache.ProbeStage]{
		Name: name, Type: kind, Description: description,
		Cell: func(stage *inferencecache.ProbeStage, _ metav1.Time) any { return cell(stage) },
	}
}
