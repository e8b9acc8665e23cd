/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package table prints objects the way kubectl shows them.
//
// A kind declares its columns as data: a name, a type, a line of documentation
// and a function from an object to a cell. Convertor makes the metav1.Table of
// it that a client asks for with the table media type, for single objects,
// lists and watch events alike. Absent values print as <none>, so that no
// column is ever empty and none shows a zero that nobody measured.
//
// An object may print as several rows, as an observation does with a row per
// engine replica. Such a kind says what the rows of an object are.
package table
