/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package table_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/registry/table"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func object(name string, age time.Duration) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: name, ResourceVersion: "5", CreationTimestamp: metav1.NewTime(now.Add(-age)),
		Labels: map[string]string{"k": "v-" + name},
	}}
}

func newConvertor() *table.Convertor[*metav1.PartialObjectMetadata, *metav1.PartialObjectMetadata] {
	return table.New(testingclock.NewFakePassiveClock(now),
		table.Name[*metav1.PartialObjectMetadata](),
		table.Age[*metav1.PartialObjectMetadata](),
		table.Column[*metav1.PartialObjectMetadata]{
			Name: "Label", Type: "string", Description: "A label.", Wide: true,
			Cell: func(o *metav1.PartialObjectMetadata, _ metav1.Time) any { return table.Text(o.Labels["k"]) },
		},
	)
}

func TestConvertorPrints(t *testing.T) {
	list := &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: ptr.To[int64](3)},
		Items:    []metav1.PartialObjectMetadata{*object("a", time.Minute), *object("b", 50*time.Hour)},
	}
	tests := map[string]struct {
		obj  runtime.Object
		wide bool
		want string
	}{
		"object": {obj: object("a", time.Minute), want: `
NAME   AGE
a      60s
`},
		"list": {obj: list, want: `
NAME   AGE
a      60s
b      2d2h
`},
		"wide list": {obj: list, wide: true, want: `
NAME   AGE    LABEL
a      60s    v-a
b      2d2h   v-b
`},
		"no creation time": {obj: &metav1.PartialObjectMetadata{}, want: `
NAME   AGE
       <none>
`},
		"empty list": {obj: &metav1.PartialObjectMetadataList{}, want: `
NAME   AGE
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, tabletest.Print(t, newConvertor(), test.obj, test.wide)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConvertorMetadata(t *testing.T) {
	list := &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: ptr.To[int64](3)},
		Items:    []metav1.PartialObjectMetadata{*object("a", time.Minute)},
	}
	got, err := newConvertor().ConvertToTable(t.Context(), list, &metav1.TableOptions{NoHeaders: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list.ListMeta, got.ListMeta); diff != "" {
		t.Errorf("list metadata (-want +got):\n%s", diff)
	}
	if len(got.ColumnDefinitions) != 0 {
		t.Errorf("%d headers where none are wanted", len(got.ColumnDefinitions))
	}
	if got.Rows[0].Object.Object == nil {
		t.Error("the row has no object")
	}
	single, err := newConvertor().ConvertToTable(t.Context(), object("a", 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if single.ResourceVersion != "5" || len(single.ColumnDefinitions) != 3 {
		t.Errorf("version %q with %d headers, want 5 with 3", single.ResourceVersion, len(single.ColumnDefinitions))
	}
}

func TestConvertorRefusesOtherTypes(t *testing.T) {
	if _, err := newConvertor().ConvertToTable(t.Context(), &metav1.Status{}, nil); err == nil {
		t.Error("a Status was printed")
	}
}

func TestNewRows(t *testing.T) {
	convertor := table.NewRows(testingclock.NewFakePassiveClock(now),
		func(o *metav1.PartialObjectMetadata) []string { return o.Finalizers },
		func(o *metav1.PartialObjectMetadata) runtime.Object {
			return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: o.Name}}
		},
		table.Column[string]{Name: "Finalizer", Type: "string", Description: "One.", Cell: func(s string, _ metav1.Time) any { return s }},
	)
	obj := object("a", 0)
	obj.Finalizers = []string{"x", "y"}
	if diff := cmp.Diff("\nFINALIZER\nx\ny\n", tabletest.Print(t, convertor, obj, false)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestCells(t *testing.T) {
	then := metav1.NewTime(now.Add(-5 * time.Minute))
	later := metav1.NewTime(now.Add(time.Minute))
	conditions := []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Fine"}, {Type: "Bare", Status: metav1.ConditionFalse}}
	tests := map[string]struct{ got, want any }{
		"text":              {table.Text("x"), "x"},
		"no text":           {table.Text(""), table.None},
		"joined":            {table.Join([]string{"a", "b"}), "a,b"},
		"nothing joined":    {table.Join(nil), table.None},
		"value":             {table.Value(ptr.To("x")), "x"},
		"no value":          {table.Value[string](nil), table.None},
		"count":             {table.Count(ptr.To[int32](3)), int64(3)},
		"count of zero":     {table.Count(ptr.To[int64](0)), int64(0)},
		"no count":          {table.Count[int32](nil), table.None},
		"since":             {table.Since(&then, metav1.NewTime(now)), "5m"},
		"since never":       {table.Since(nil, metav1.NewTime(now)), table.None},
		"since zero":        {table.Since(&metav1.Time{}, metav1.NewTime(now)), table.None},
		"since the future":  {table.Since(&later, metav1.NewTime(now)), "<invalid>"},
		"condition":         {table.Condition(conditions, "Ready"), "True"},
		"no condition":      {table.Condition(conditions, "Other"), table.None},
		"reason":            {table.Reason(conditions, "Ready"), "Fine"},
		"reason left empty": {table.Reason(conditions, "Bare"), table.None},
		"no reason":         {table.Reason(nil, "Ready"), table.None},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("cell (-want +got):\n%s", diff)
			}
		})
	}
}
