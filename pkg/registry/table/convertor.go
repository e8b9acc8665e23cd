/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package table

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
)

// Column describes one column over rows of type R.
type Column[R any] struct {
	// Name is the header. kubectl prints it in upper case.
	Name string
	// Type is the OpenAPI type of the cells: string, integer, number or boolean.
	Type string
	// Format refines the type. The column that holds the object's name has the
	// format "name".
	Format string
	// Description documents the column for clients.
	Description string
	// Wide columns are shown with -o wide only.
	Wide bool
	// Cell returns the value of a row. now is the time of the conversion, for
	// columns that show an age.
	Cell func(row R, now metav1.Time) any
}

// Convertor prints objects of type O, or lists of them, with rows of type R.
type Convertor[O runtime.Object, R any] struct {
	columns []Column[R]
	rows    func(O) []R
	ref     func(O) runtime.Object
	clock   clock.PassiveClock
}

var _ rest.TableConvertor = (*Convertor[*metav1.PartialObjectMetadata, int])(nil)

// New returns a convertor that prints each object as one row.
func New[O runtime.Object](clock clock.PassiveClock, columns ...Column[O]) *Convertor[O, O] {
	return &Convertor[O, O]{
		columns: columns,
		rows:    func(obj O) []O { return []O{obj} },
		ref:     func(obj O) runtime.Object { return obj },
		clock:   clock,
	}
}

// NewRows returns a convertor that prints an object as the rows that rows
// returns. ref returns what a client gets with each row when it asks for the
// object: something small that carries the metadata, as the object itself in
// every row would make the answer grow with the square of its rows.
func NewRows[O runtime.Object, R any](clock clock.PassiveClock, rows func(O) []R, ref func(O) runtime.Object, columns ...Column[R]) *Convertor[O, R] {
	return &Convertor[O, R]{columns: columns, rows: rows, ref: ref, clock: clock}
}

// ConvertToTable implements rest.TableConvertor.
func (c *Convertor[O, R]) ConvertToTable(_ context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	result := &metav1.Table{}
	now := metav1.NewTime(c.clock.Now())
	add := func(item runtime.Object) error {
		obj, ok := item.(O)
		if !ok {
			return fmt.Errorf("printing a table: unexpected type %T", item)
		}
		for _, row := range c.rows(obj) {
			result.Rows = append(result.Rows, metav1.TableRow{
				Cells:  c.cells(row, now),
				Object: runtime.RawExtension{Object: c.ref(obj)},
			})
		}
		return nil
	}
	if list, err := meta.ListAccessor(object); err == nil && meta.IsListType(object) {
		result.ResourceVersion = list.GetResourceVersion()
		result.Continue = list.GetContinue()
		result.RemainingItemCount = list.GetRemainingItemCount()
		if err := meta.EachListItem(object, add); err != nil {
			return nil, err
		}
	} else {
		if common, err := meta.CommonAccessor(object); err == nil {
			result.ResourceVersion = common.GetResourceVersion()
		}
		if err := add(object); err != nil {
			return nil, err
		}
	}
	if options, ok := tableOptions.(*metav1.TableOptions); !ok || !options.NoHeaders {
		result.ColumnDefinitions = c.definitions()
	}
	return result, nil
}

// cells returns the cells of one row in the order of the columns.
func (c *Convertor[O, R]) cells(row R, now metav1.Time) []any {
	cells := make([]any, 0, len(c.columns))
	for _, column := range c.columns {
		cells = append(cells, column.Cell(row, now))
	}
	return cells
}

// definitions returns the headers.
func (c *Convertor[O, R]) definitions() []metav1.TableColumnDefinition {
	definitions := make([]metav1.TableColumnDefinition, 0, len(c.columns))
	for _, column := range c.columns {
		definition := metav1.TableColumnDefinition{
			Name:        column.Name,
			Type:        column.Type,
			Format:      column.Format,
			Description: column.Description,
		}
		if column.Wide {
			definition.Priority = 1
		}
		definitions = append(definitions, definition)
	}
	return definitions
}
