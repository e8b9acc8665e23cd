/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package table_test

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkConvertToTable prints a list of a thousand objects.
func BenchmarkConvertToTable(b *testing.B) {
	list := &metav1.PartialObjectMetadataList{}
	for i := range 1000 {
		list.Items = append(list.Items, *object(strconv.Itoa(i), 0))
	}
	convertor := newConvertor()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := convertor.ConvertToTable(b.Context(), list, nil); err != nil {
			b.Fatal(err)
		}
	}
}
