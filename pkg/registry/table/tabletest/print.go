/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tabletest

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// Print returns what kubectl prints for obj with convertor: upper-case headers,
// cells padded to columns with three spaces between them, and the wide columns
// only when asked for. Trailing spaces are cut and a newline precedes the first
// line. It fails the test when the conversion does or when cells are missing.
func Print(t testing.TB, convertor rest.TableConvertor, obj runtime.Object, wide bool) string {
	t.Helper()
	table, err := convertor.ConvertToTable(t.Context(), obj, &metav1.TableOptions{})
	if err != nil {
		t.Fatalf("converting %T to a table: %v", obj, err)
	}
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 8, 3, ' ', 0)
	var headers []string
	for _, column := range table.ColumnDefinitions {
		if column.Description == "" {
			t.Errorf("column %s has no description", column.Name)
		}
		if wide || column.Priority == 0 {
			headers = append(headers, strings.ToUpper(column.Name))
		}
	}
	fmt.Fprintln(writer, strings.Join(headers, "\t"))
	for _, row := range table.Rows {
		if len(row.Cells) != len(table.ColumnDefinitions) {
			t.Fatalf("a row has %d cells for %d columns", len(row.Cells), len(table.ColumnDefinitions))
		}
		var cells []string
		for i, column := range table.ColumnDefinitions {
			if wide || column.Priority == 0 {
				cells = append(cells, fmt.Sprint(row.Cells[i]))
			}
		}
		fmt.Fprintln(writer, strings.Join(cells, "\t"))
	}
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return "\n" + strings.Join(lines, "\n")
}
