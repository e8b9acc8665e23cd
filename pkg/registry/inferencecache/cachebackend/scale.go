/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/stored"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// ScaleREST is the storage of the subresource scale: spec.replicas,
// status.replicas and status.selector of a CacheBackend in the form that
// "kubectl scale" and autoscalers speak.
type ScaleREST struct {
	rest.TableConvertor
	store *genericregistry.Store
}

var (
	_ rest.Patcher                  = (*ScaleREST)(nil)
	_ rest.GroupVersionKindProvider = (*ScaleREST)(nil)
	_ rest.TableConvertor           = (*ScaleREST)(nil)
)

// scaleStrategy writes the main resource, but never creates it.
type scaleStrategy struct {
	strategy
}

// AllowCreateOnUpdate implements rest.RESTUpdateStrategy.
func (scaleStrategy) AllowCreateOnUpdate(context.Context) bool {
	return false
}

// newScaleREST returns the subresource scale of main.
func newScaleREST(main *stored.REST, strategy strategy, clock clock.PassiveClock) *ScaleREST {
	store := *main.Store
	store.UpdateStrategy = scaleStrategy{strategy: strategy}
	return &ScaleREST{TableConvertor: newScaleTable(clock), store: &store}
}

// GroupVersionKind implements rest.GroupVersionKindProvider.
func (*ScaleREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}

// New implements rest.Storage.
func (*ScaleREST) New() runtime.Object {
	return &autoscalingv1.Scale{}
}

// Destroy implements rest.Storage. The main resource owns the shared store.
func (*ScaleREST) Destroy() {}

// Get returns the scale of a CacheBackend.
func (r *ScaleREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := r.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return scaleOf(obj.(*inferencecache.CacheBackend))
}

// Update changes the number of replicas. The managed fields move with it: who
// scales owns spec.replicas from then on.
func (r *ScaleREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	admit := func(ctx context.Context, obj, old runtime.Object) error {
		if updateValidation == nil {
			return nil
		}
		scale, err := scaleOf(obj.(*inferencecache.CacheBackend))
		if err != nil {
			return err
		}
		oldScale, err := scaleOf(old.(*inferencecache.CacheBackend))
		if err != nil {
			return err
		}
		return updateValidation(ctx, scale, oldScale)
	}
	obj, _, err := r.store.Update(ctx, name, scaleInfo{UpdatedObjectInfo: objInfo}, createValidation, admit, false, options)
	if err != nil {
		return nil, false, err
	}
	scale, err := scaleOf(obj.(*inferencecache.CacheBackend))
	return scale, false, err
}

// newScaleTable returns what kubectl prints of a scale.
func newScaleTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.New(clock,
		table.Name[*autoscalingv1.Scale](),
		table.Column[*autoscalingv1.Scale]{
			Name: "Desired", Type: "integer",
			Description: "Number of replicas that are wanted.",
			Cell:        func(s *autoscalingv1.Scale, _ metav1.Time) any { return int64(s.Spec.Replicas) },
		},
		table.Column[*autoscalingv1.Scale]{
			Name: "Available", Type: "integer",
			Description: "Number of replicas that there are.",
			Cell:        func(s *autoscalingv1.Scale, _ metav1.Time) any { return int64(s.Status.Replicas) },
		},
		table.Age[*autoscalingv1.Scale](),
	)
}

// scaleInfo turns an update of a Scale into one of the CacheBackend behind it.
type scaleInfo struct {
	rest.UpdatedObjectInfo
}

// UpdatedObject implements rest.UpdatedObjectInfo. old is the stored
// CacheBackend, or an empty one when there is none, which the store refuses
// before this is called.
func (i scaleInfo) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	backend := old.DeepCopyObject().(*inferencecache.CacheBackend)
	oldScale, err := scaleOf(backend)
	if err != nil {
		return nil, err
	}
	obj, err := i.UpdatedObjectInfo.UpdatedObject(ctx, oldScale)
	if err != nil {
		return nil, err
	}
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a Scale, not %T", obj))
	}
	if scale.Spec.Replicas < 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), scale.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), scale.Spec.Replicas, "must be greater than or equal to 0"),
		})
	}
	if scale.ResourceVersion != "" {
		backend.ResourceVersion = scale.ResourceVersion
	}
	backend.Spec.Replicas = ptr.To(scale.Spec.Replicas)
	if backend.ManagedFields, err = ownersAfterScale(backend, scale.ManagedFields); err != nil {
		return nil, err
	}
	return backend, nil
}

// scaleOf returns the scale of a CacheBackend. Its managed fields are those
// that own the number of replicas.
func scaleOf(backend *inferencecache.CacheBackend) (*autoscalingv1.Scale, error) {
	owners, err := fieldOwners(backend).ToSubresource()
	if err != nil {
		return nil, fmt.Errorf("reading the managed fields of CacheBackend %q: %w", backend.Name, err)
	}
	return &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name:              backend.Name,
			Namespace:         backend.Namespace,
			UID:               backend.UID,
			ResourceVersion:   backend.ResourceVersion,
			CreationTimestamp: backend.CreationTimestamp,
			ManagedFields:     owners,
		},
		Spec: autoscalingv1.ScaleSpec{Replicas: ptr.Deref(backend.Spec.Replicas, 1)},
		Status: autoscalingv1.ScaleStatus{
			Replicas: backend.Status.Replicas,
			Selector: backend.Status.Selector,
		},
	}, nil
}
