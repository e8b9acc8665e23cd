//go:build !linux

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package durablefile

import (
	"errors"
	"os"
)

// openUnnamed is for Linux.
func openUnnamed(string, os.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

// linkUnnamed is for Linux.
func linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
