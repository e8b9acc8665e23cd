/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"fmt"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Lengths in bytes of what a client may call itself. Names of models and
// adapters are often paths or URLs; the others are words.
const (
	maxNameBytes   = 512
	maxWordBytes   = 256
	maxReasonBytes = 4096
)

// invalid says what is wrong with a field, named by its path in the message.
func invalid(field, format string, args ...any) error {
	return fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...))
}

// checkText refuses text that is too long or that a log or a terminal could not
// show as it is.
func checkText(field, value string, limit int) error {
	if len(value) > limit {
		return invalid(field, "%d bytes, at most %d are taken", len(value), limit)
	}
	if i := strings.IndexFunc(value, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }); i >= 0 {
		return invalid(field, "a character that cannot be printed at byte %d", i)
	}
	return nil
}

// checkWord refuses text that is missing or not fit to be shown.
func checkWord(field, value string, limit int) error {
	if value == "" {
		return invalid(field, "is required")
	}
	return checkText(field, value, limit)
}

// checkPathElement refuses what would not stay one part of "<namespace>/<pod>/<rank>".
func checkPathElement(field, value string) error {
	if strings.ContainsAny(value, "/ ") {
		return invalid(field, "%q has a slash or a blank", value)
	}
	return checkText(field, value, maxWordBytes)
}

// checkSubdomain refuses what cannot be the name of a CacheBackend.
func checkSubdomain(field, value string) error {
	if problems := validation.IsDNS1123Subdomain(value); len(problems) > 0 {
		return invalid(field, "%s", problems[0])
	}
	return nil
}

// checkNamespace refuses what cannot be the name of a namespace.
func checkNamespace(field, value string) error {
	if problems := validation.IsDNS1123Label(value); len(problems) > 0 {
		return invalid(field, "%s", problems[0])
	}
	return nil
}

// firstError returns the first error of several checks.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
