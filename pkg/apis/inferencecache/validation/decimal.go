/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parseDecimal reads a finite number in plain or exponent notation. The notations
// that only Go knows, hexadecimal and digits in groups, are no numbers to the
// engines and clients that read the same field.
func parseDecimal(text string) (float64, bool) {
	if strings.ContainsAny(text, "xXpP_") {
		return 0, false
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return 0, false
	}
	return number, true
}

// validateShare refuses what is no decimal from 0 to 1.
func validateShare(text *string, path *field.Path) field.ErrorList {
	if text == nil {
		return nil
	}
	if number, ok := parseDecimal(*text); !ok || number < 0 || number > 1 {
		return field.ErrorList{field.Invalid(path, *text, `must be a decimal from 0 to 1, such as "0.25"`)}
	}
	return nil
}
