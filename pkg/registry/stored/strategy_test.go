/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestSetGeneration(t *testing.T) {
	type spec struct {
		Name   string
		Labels map[string]string
	}
	tests := map[string]struct {
		spec, old spec
		want      int64
	}{
		"unchanged":           {spec: spec{Name: "a"}, old: spec{Name: "a"}, want: 4},
		"changed":             {spec: spec{Name: "b"}, old: spec{Name: "a"}, want: 5},
		"empty instead of no": {spec: spec{Labels: map[string]string{}}, want: 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.ObjectMeta{Generation: 99}
			SetGeneration(obj, &metav1.ObjectMeta{Generation: 4}, test.spec, test.old)
			if obj.Generation != test.want {
				t.Errorf("generation %d, want %d", obj.Generation, test.want)
			}
		})
	}
}

func TestKeepMeta(t *testing.T) {
	old := metav1.ObjectMeta{
		Name: "a", UID: "uid", ResourceVersion: "5", Labels: map[string]string{"k": "v"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "before"}},
	}
	obj := metav1.ObjectMeta{
		Name: "a", ResourceVersion: "4", Labels: map[string]string{"k": "w"}, Finalizers: []string{"x"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "writer"}},
	}
	KeepMeta(&obj, &old)
	want := old
	want.ResourceVersion, want.ManagedFields = "4", []metav1.ManagedFieldsEntry{{Manager: "writer"}}
	if diff := cmp.Diff(want, obj); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	obj.Labels["k"] = "changed"
	if old.Labels["k"] != "v" {
		t.Error("the metadata of the old object is shared with the new one")
	}
}

func TestResetFields(t *testing.T) {
	base := NewBase(runtime.NewScheme(), schema.GroupVersion{Group: "example.com", Version: "v1"})
	tests := map[string]struct {
		got  map[fieldpath.APIVersion]*fieldpath.Set
		want *fieldpath.Set
	}{
		"main resource": {
			got:  base.GetResetFields(),
			want: fieldpath.NewSet(fieldpath.MakePathOrDie("status")),
		},
		"status": {
			got:  StatusBase{Base: base}.GetResetFields(),
			want: fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec")),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.got["example.com/v1"]; len(test.got) != 1 || got == nil || !got.Equals(test.want) {
				t.Errorf("reset fields %v, want %v for example.com/v1", test.got, test.want)
			}
		})
	}
}

func TestWhoCreates(t *testing.T) {
	base := NewBase(runtime.NewScheme(), schema.GroupVersion{})
	if !base.AllowCreateOnUpdate(t.Context()) {
		t.Error("a PUT of the main resource does not create")
	}
	if (StatusBase{Base: base}).AllowCreateOnUpdate(t.Context()) {
		t.Error("a PUT of the status creates")
	}
}

func TestRefuseResurrection(t *testing.T) {
	tests := map[string]struct {
		version, stored string
		refused         bool
	}{
		"creation":                   {},
		"update of what is there":    {version: "5", stored: "5"},
		"unconditional update":       {stored: "5"},
		"stale update, still there":  {version: "4", stored: "5"},
		"update of what has gone":    {version: "5", refused: true},
		"update of what never was":   {version: "1", refused: true},
		"creation at any version":    {version: "0"},
		"update to a newer version":  {version: "6", stored: "5"},
		"apply that names a version": {version: "5", refused: true},
	}
	check := refuseResurrection(schema.GroupResource{Resource: "things"}, "a")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: test.version}}
			old := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: test.stored}}
			got, err := check(t.Context(), obj, old)
			if test.refused {
				if !apierrors.IsNotFound(err) {
					t.Errorf("got %v, want not found", err)
				}
				return
			}
			if err != nil || got != runtime.Object(obj) {
				t.Errorf("got %v, %v, want the object", got, err)
			}
		})
	}
}
