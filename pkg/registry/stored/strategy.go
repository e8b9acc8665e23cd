/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Base is the part of a strategy that is the same for all stored kinds. A kind
// embeds it and adds preparation and validation.
type Base struct {
	runtime.ObjectTyper
	names.NameGenerator
	version schema.GroupVersion
}

// NewBase returns the common part for kinds of scheme that are served in the
// given version.
func NewBase(scheme runtime.ObjectTyper, version schema.GroupVersion) Base {
	return Base{ObjectTyper: scheme, NameGenerator: names.SimpleNameGenerator, version: version}
}

// NamespaceScoped implements the strategies: all stored kinds are namespaced.
func (Base) NamespaceScoped() bool {
	return true
}

// AllowCreateOnUpdate lets a PUT create an object, as a POST does.
func (Base) AllowCreateOnUpdate(context.Context) bool {
	return true
}

// AllowUnconditionalUpdate lets a PUT without a resourceVersion overwrite.
func (Base) AllowUnconditionalUpdate(context.Context) bool {
	return true
}

// Canonicalize has nothing to do: the stored form is the validated one.
func (Base) Canonicalize(runtime.Object) {}

// WarningsOnCreate returns no warnings.
func (Base) WarningsOnCreate(context.Context, runtime.Object) []string {
	return nil
}

// WarningsOnUpdate returns no warnings.
func (Base) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

// GetResetFields names what a write to the main resource does not change.
func (b Base) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return b.resetFields("status")
}

// resetFields returns the given top level fields for the served version.
func (b Base) resetFields(fields ...string) map[fieldpath.APIVersion]*fieldpath.Set {
	set := fieldpath.NewSet()
	for _, field := range fields {
		set.Insert(fieldpath.MakePathOrDie(field))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(b.version.String()): set}
}

// StatusBase is the part of a status strategy that is the same for all kinds.
type StatusBase struct {
	Base
}

// AllowCreateOnUpdate forbids what the main resource allows: an object never
// starts from its status.
func (StatusBase) AllowCreateOnUpdate(context.Context) bool {
	return false
}

// GetResetFields names what a write to the status does not change.
func (b StatusBase) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return b.resetFields("metadata", "spec")
}

// KeepMeta makes a write to a subresource leave the metadata as it was. Only
// the managed fields, in which the write itself is recorded, and the version
// that the client wants to overwrite are taken from the request.
func KeepMeta(obj, old *metav1.ObjectMeta) {
	managedFields, resourceVersion := obj.ManagedFields, obj.ResourceVersion
	old.DeepCopyInto(obj)
	obj.ManagedFields, obj.ResourceVersion = managedFields, resourceVersion
}

// SetGeneration gives obj the generation of old, or the next one when the specs
// differ. Absent and empty maps and lists are the same.
func SetGeneration(obj, old *metav1.ObjectMeta, spec, oldSpec any) {
	obj.Generation = old.Generation
	if !apiequality.Semantic.DeepEqual(spec, oldSpec) {
		obj.Generation++
	}
}
